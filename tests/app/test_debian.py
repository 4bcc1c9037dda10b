"""The package for Debian: what it says, and that dpkg can read it; the notices that lie in every bundle."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from xml.etree import ElementTree

import pytest

import llama_gui
from app import bundle
from app.debian import control, lay_out, make_package, metainfo
from app.notices import distributions_of, write_notices

ROOT = Path(__file__).parents[2]


def test_control_has_the_fields_that_dpkg_wants():
    fields = dict(line.split(": ", 1) for line in control(1234).splitlines() if not line.startswith(" "))
    assert fields["Package"] == "llama-gui"
    assert fields["Version"] == llama_gui.__version__
    assert fields["Installed-Size"] == "1234"
    assert re.fullmatch(r"libc6 \(>= 2\.\d+\)(, [a-z0-9.+-]+)+", fields["Depends"])


def test_the_menu_entry_the_icon_and_the_command_lie_where_desktops_look(tmp_path: Path):
    lay_out(tmp_path)
    entry = (tmp_path / "usr/share/applications/llama-gui.desktop").read_text("utf-8")
    assert "\nExec=/opt/llama-gui/llama-gui\n" in entry
    assert "\nIcon=llama-gui\n" in entry
    assert (tmp_path / "usr/share/icons/hicolor/scalable/apps/llama-gui.svg").is_file()
    assert str((tmp_path / "usr/bin/llama-gui").readlink()) == "/opt/llama-gui/llama-gui"


def test_shops_read_the_metainfo(tmp_path: Path):
    root = ElementTree.fromstring(metainfo())
    assert root.findtext("launchable") == "llama-gui.desktop"
    if shutil.which("appstreamcli"):
        lay_out(tmp_path)
        subprocess.run(["appstreamcli", "validate-tree", "--no-net", str(tmp_path)], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="not a Debian")
def test_dpkg_unpacks_what_was_packed(tmp_path: Path):
    built = tmp_path / "llama-gui"
    (built / "_internal").mkdir(parents=True)
    (built / "llama-gui").touch(mode=0o700)
    (built / "_internal" / "data").write_text("x" * 5000, "utf-8")
    (built / "_internal" / "data").chmod(0o600)
    package = make_package(built, tmp_path)
    out = tmp_path / "out"
    subprocess.run(["dpkg-deb", "-x", str(package), str(out)], check=True)
    assert (out / "opt/llama-gui/llama-gui").stat().st_mode & 0o777 == 0o755
    assert (out / "opt/llama-gui/_internal/data").stat().st_mode & 0o777 == 0o644
    listed = subprocess.run(["dpkg-deb", "-c", str(package)], check=True, capture_output=True, text=True).stdout
    assert {line.split()[1] for line in listed.splitlines()} == {"root/root"}
    assert (built / "llama-gui").stat().st_mode & 0o777 == 0o700  # the bundle itself stays as it was
    assert not (tmp_path / "package").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
def test_nothing_stays_of_a_package_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """dpkg-deb leaves what it has written of one, under the name of a whole package."""
    fails = tmp_path / "bin" / "dpkg-deb"
    fails.parent.mkdir()
    fails.write_text('#!/bin/sh\nfor to; do :; done\necho half > "$to"\nexit 2\n', "utf-8")
    fails.chmod(0o755)
    monkeypatch.setenv("PATH", str(fails.parent), prepend=os.pathsep)
    (tmp_path / "llama-gui").mkdir()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(subprocess.CalledProcessError):
        make_package(tmp_path / "llama-gui", tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_without_dpkg_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(bundle, "build", lambda _: pytest.fail("built"))
    assert bundle.main(["--deb", "--to", str(tmp_path)]) == 1
    assert "dpkg-deb, which is not here" in capsys.readouterr().out


def test_the_notices_name_everybody_whose_file_is_in_it(tmp_path: Path):
    import jinja2
    import markupsafe

    files = [("jinja2", jinja2.__file__), ("markupsafe", markupsafe.__file__), ("made up", str(tmp_path / "x"))]
    found, owned = distributions_of({str(Path(source).resolve()) for _, source in files})
    assert [one.metadata["Name"].lower() for one in found] == ["jinja2", "markupsafe"]
    assert len(owned) == 2
    write_notices(tmp_path / "NOTICES.txt", files)
    text = (tmp_path / "NOTICES.txt").read_text("utf-8")
    assert f"Jinja2 {distribution('jinja2').version}".lower() in text.lower()
    for words in ("MIT License", "GNU LESSER GENERAL PUBLIC LICENSE", "GNU GENERAL PUBLIC LICENSE", "Pallets"):
        assert words in text
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in text
    assert "\ntorch " not in text  # nothing of it is among the files


def test_windows_gets_a_program_without_a_console():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"]["llama-gui"] == project["gui-scripts"]["llama-gui-window"]
    assert set(project["gui-scripts"]).isdisjoint(project["scripts"])


def test_the_installer_takes_away_what_it_brought():
    script = (ROOT / "app" / "installer.nsi").read_text("utf-8")
    install, remove = script.split('Section "Uninstall"')
    for name in ("llama-gui.exe", "llama-gui-window.exe", "uninstall.exe", "_internal"):
        assert name in remove
    assert "$SMPROGRAMS\\llama-gui.lnk" in install
    assert "$SMPROGRAMS\\llama-gui.lnk" in remove
    assert 'RMDir /r "$INSTDIR"' not in remove  # the user may have put something there
