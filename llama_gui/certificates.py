"""Which servers of the web are who they say: the system's certificates, read once."""

import functools
import ssl
from typing import cast


@functools.cache
def certificates(*, trust_env: bool) -> ssl.SSLContext:
    """What an HTTP client verifies servers with: for its `verify`.

    Each client would read all certificates anew, which takes 50 ms, also for a server on this machine.

    Args:
        trust_env: whether SSL_CERT_FILE and SSL_CERT_DIR count.
    """
    import httpx2  # it takes a while

    return cast("ssl.SSLContext", httpx2.create_ssl_context(trust_env=trust_env))
