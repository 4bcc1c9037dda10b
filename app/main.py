"""What a double click starts."""

import sys

from llama_gui.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
