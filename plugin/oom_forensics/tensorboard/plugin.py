"""The routes of the OOM Forensics tab.

    index.js, static/*   the tab itself
    runs                 which runs there are, and which jobs run
    data                 a dataset of a run, as the converter answers it
    progress             how much of a run's trace has been read

Routes lie below /data/plugin/oom_forensics/, only read, and take no path: a run is
looked up by its name in the list of runs. A page of another origin gets the files of the tab
and nothing else: it cannot make the converter work. Errors are JSON, `{"error": sentence}`.
An answer to `data` says in a header which version of the trace it is of. A browser that
no longer waits for an answer hangs up, and the work for it ends.
"""

from __future__ import annotations

import atexit
import gzip
import json
import mimetypes
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, cast

from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from oom_forensics.converter import process as converter
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.live.live_runs import PREFIX as LIVE_PREFIX
from oom_forensics.live.live_runs import LiveRuns
from oom_forensics.logdir.runs import Run, RunList, parse_logdir_spec
from oom_forensics.remote import local_copies
from oom_forensics.remote.addresses import whole_path
from oom_forensics.tensorboard.converter_pool import ConverterPool, TraceVersion
from oom_forensics.tensorboard.hang_up import still_there

_STATIC = Path(__file__).resolve().parents[1] / "static"
VERSION_HEADER = "X-Oom-Forensics-Trace-Version"
TAB_HEADER = "X-Oom-Forensics-Tab"
"""The tab sends it with each question."""
_MAX_QUERY_BYTES = 32 << 10
_GZIP_FROM_BYTES = 1 << 10
_CONTENT_TYPES = {
    "protobuf": "application/x-protobuf",
    "json": "application/json",
    "csv": "text/csv",
}
_HTTP_STATUS = {
    converter.CODE_INVALID_ARGUMENT: 400,
    converter.CODE_NOT_FOUND: 404,
    converter.CODE_CANCELLED: 503,
    converter.CODE_DATA_LOSS: 422,
    converter.CODE_UNIMPLEMENTED: 501,
    converter.CODE_UNAVAILABLE: 503,
    converter.CODE_RESOURCE_EXHAUSTED: 503,
}

WsgiApp = Callable[..., Iterable[bytes]]


class _HttpError(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def _route(
    *methods: str, to_any_origin: bool = False
) -> Callable[[Callable[[Any, wrappers.Request], wrappers.Response]], Any]:
    """Makes a method a WSGI application that answers errors in one form."""

    def decorate(handler: Callable[[Any, wrappers.Request], wrappers.Response]) -> Any:
        @wraps(handler)
        def application(self: Any, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = wrappers.Request(environ)
            try:
                if request.method not in methods:
                    raise _HttpError(405, f"This route answers {methods[0]} only.")
                if not to_any_origin:
                    _check_origin(request)
                response = handler(self, request)
            except _HttpError as error:
                response = _error(request, error.status, str(error))
            except converter.ConverterError as error:
                status = _HTTP_STATUS.get(error.code, 500)
                response = _error(request, status, str(error))
            except OomForensicsError as error:
                response = _error(request, 503, str(error))
            return cast(Iterable[bytes], response(environ, start_response))

        return application

    return decorate


def _check_origin(request: wrappers.Request) -> None:
    """Refuses what a page of another origin asks for.

    A browser says in `Sec-Fetch-Site` whose page asks, over https and on this machine. Where it
    does not say, the tab is known by a header that no other page can add to such a request.
    Who is no browser may ask.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site in ("same-origin", "none"):
        return
    is_browser = request.headers.get("User-Agent", "").startswith("Mozilla/")
    if site is None and (TAB_HEADER in request.headers or not is_browser):
        return
    raise _HttpError(403, "Only the tab's own page may ask; open it in TensorBoard.")


def _error(request: wrappers.Request, status: int, sentence: str) -> wrappers.Response:
    return http_util.Respond(request, {"error": sentence}, "application/json", code=status)


class OomForensicsPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The TensorBoard plugin."""

    plugin_name = "oom_forensics"

    def __init__(self, context: Any) -> None:
        """Takes the logdir from TensorBoard's context."""
        super().__init__(context)
        self._runs = RunList(_logdirs(context))
        self._live = LiveRuns(_logdirs(context))
        self._converters = ConverterPool()
        atexit.register(self._converters.close)

    def get_plugin_apps(self) -> dict[str, WsgiApp]:
        """Returns the routes; the files of the tab also lie beside the data."""
        routes: dict[str, WsgiApp] = {
            "/runs": self._serve_runs,
            "/data": self._serve_data,
            "/progress": self._serve_progress,
            "/static/*": self._serve_static,
        }
        for file in _STATIC.iterdir() if _STATIC.is_dir() else ():
            if file.is_file():
                routes[f"/{file.name}"] = self._serve_static
        return routes

    def is_active(self) -> bool:
        """Whether there is any trace to show, or a reason to tell why there is none."""
        is_known = not self._runs.is_empty() or self._runs.problem is not None
        return is_known or not self._live.is_empty()

    def frontend_metadata(self) -> Any:
        """Returns how TensorBoard shows the tab."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="OOM Forensics")

    @_route("GET", "HEAD")
    def _serve_runs(self, request: wrappers.Request) -> wrappers.Response:
        runs = [
            {
                "run": run.name,
                "hosts": [file.host for file in run.files],
                "sizeBytes": str(run.size_bytes),
                "modifiedNs": str(run.modified_ns),
                "version": run.version,
                "live": run.name.startswith(LIVE_PREFIX),
            }
            for run in (*self._live.all(), *self._runs.all())
        ]
        if not runs and self._runs.problem:
            raise _HttpError(503, self._runs.problem)
        return http_util.Respond(request, json.dumps(runs), "application/json")

    @_route("GET", "HEAD")
    def _serve_data(self, request: wrappers.Request) -> wrappers.Response:
        run = self._run_of(request, "run")
        query = _query_of(request)
        form = request.args.get("format", "protobuf")
        if form not in _CONTENT_TYPES:
            raise _HttpError(400, "'format' is one of protobuf, json and csv.")
        other = None
        if request.args.get("other_run"):
            other = _version_of(self._run_of(request, "other_run"))
        body = self._converters.ask(
            _version_of(run),
            query,
            cast(converter.BodyFormat, form),
            other,
            still_there(request.environ),
        )
        return _respond_data(request, body, form, run.version)

    @_route("GET", "HEAD")
    def _serve_progress(self, request: wrappers.Request) -> wrappers.Response:
        run = self._run_of(request, "run")
        progress = local_copies.progress_of(run.folder)
        if progress is None:
            progress = self._converters.progress(run.local_folder)
        return http_util.Respond(request, {"progress": progress}, "application/json")

    @_route("GET", "HEAD", to_any_origin=True)
    def _serve_static(self, request: wrappers.Request) -> wrappers.Response:
        name = request.path.rpartition("/plugin/oom_forensics/")[2]
        # Looked up in the list of what is there, so that no path can lead out.
        files = {
            str(file.relative_to(_STATIC)): file for file in _STATIC.rglob("*") if file.is_file()
        }
        file = files.get(name.removeprefix("static/"))
        if file is None:
            raise _HttpError(404, "The tab has no such file.")
        content_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return http_util.Respond(request, file.read_bytes(), content_type)

    def _run_of(self, request: wrappers.Request, argument: str) -> Run:
        name = request.args.get(argument)
        if not name:
            raise _HttpError(400, f"'{argument}' is missing: name a run.")
        if name.startswith(LIVE_PREFIX):
            live = self._live.find(name)
            if live is None:
                raise _HttpError(404, f"The job of {name!r} has ended; reload the page.")
            return live
        run = self._runs.find(name)
        if run is None:
            raise _HttpError(
                404,
                f"There is no run {name!r} in this logdir any more; reload the page to"
                " see which there are.",
            )
        return run


def _logdirs(context: Any) -> dict[str, str]:
    if context.logdir:
        return {whole_path(context.logdir): ""}
    flags = getattr(context, "flags", None)
    return parse_logdir_spec(getattr(flags, "logdir_spec", None) or "")


def _version_of(run: Run) -> TraceVersion:
    return TraceVersion(run.fetch(), run.revision)


def _query_of(request: wrappers.Request) -> dict[str, Any]:
    text = request.args.get("query", "")
    if len(text) > _MAX_QUERY_BYTES:
        raise _HttpError(400, "'query' is too long; use shorter filters.")
    try:
        query = json.loads(text)
    except (ValueError, RecursionError):
        query = None
    if not isinstance(query, dict):
        raise _HttpError(400, "'query' has to be the JSON of a Query.")
    return query


def _respond_data(
    request: wrappers.Request, body: bytes, form: str, version: str
) -> wrappers.Response:
    headers = [(VERSION_HEADER, version)]
    if form == "csv":
        headers.append(("Content-Disposition", 'attachment; filename="dataset.csv"'))
    encoding = None
    # TensorBoard compresses text itself.
    if form == "protobuf" and len(body) >= _GZIP_FROM_BYTES:
        body = gzip.compress(body, compresslevel=1, mtime=0)
        encoding = "gzip"
    return http_util.Respond(
        request,
        body,
        _CONTENT_TYPES[form],
        content_encoding=encoding,
        headers=headers,
    )
