"""nginx as deploy/nginx configures it, in a folder and on a port of the cluster's own."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import ROOT, StartError

FILES = ROOT / "deploy" / "nginx"

# What Debian's nginx.conf says around a site, with every path in the folder.
AROUND = """\
pid {folder}/nginx.pid;
error_log stderr warn;
worker_processes 1;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {site}
    {upstream}
}}
"""


def nginx_command(folder: Path, port: int, web_ports: Sequence[int]) -> list[str]:
    """Write the configuration and return what starts it. Raises StartError where nginx is not installed."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program:
        raise StartError("nginx is not installed: apt-get install nginx")
    upstream = _put(r"(server [^;]+;\s*)+", _servers(web_ports), FILES / "upstream.conf")
    site = _put(r"listen 8080;", f"listen 127.0.0.1:{port};", FILES / "benchsite.conf")
    configuration = folder / "nginx.conf"
    text = AROUND.format(folder=folder, upstream=upstream, site=site)
    configuration.write_text(text.replace("/var/log/nginx/", f"{folder}/nginx-"))
    return [program, "-p", str(folder), "-e", "stderr", "-c", str(configuration), "-g", "daemon off;"]


def _servers(web_ports: Sequence[int]) -> str:
    """Lines as the file's own, which says what nginx does with one that is away. Raises StartError where it has none."""
    like = re.search(r"server \S+( [^;]+)?;", (FILES / "upstream.conf").read_text())
    if not like:
        raise StartError(f"{FILES / 'upstream.conf'} names no server")
    return "".join(f"server 127.0.0.1:{web}{like[1] or ''};\n    " for web in web_ports)


def _put(pattern: str, text: str, path: Path) -> str:
    """The file with `text` in the one place that `pattern` finds. Raises StartError where it is not one."""
    changed, places = re.subn(pattern, text, path.read_text())
    if places != 1:
        raise StartError(f"{path} has {pattern} {places} times, not once")
    return changed
