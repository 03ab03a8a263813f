"""How requests reach a language model: its address without secrets, no redirects, no surprising proxy, bounded replies.

The SDK is given the address that may be shown; the one that is asked, with its user, password and query, is known to
`Transport` alone. So no log, error or result of anybody can hold more than `Address.shown`.
"""

from __future__ import annotations

import base64
import importlib
import ipaddress
import zlib
from collections.abc import Iterable
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from .errors import EvaluationError

MAX_BODY: Final = 64 * 1024  # bytes of a server's answer, decompressed
NO_ADDRESS: Final = "(no http address)"
_HIDDEN: Final = "…"
_PIECE: Final = 6  # so many characters of a secret in a row are a piece of it


class Address(NamedTuple):
    """Where a server is: `target` is asked, `shown` may be printed; `secrets` are what no text may hold."""

    target: str  # "" if it is no http address
    shown: str
    authorization: str
    secrets: tuple[str, ...]
    proxy: str | None
    unencrypted: bool  # plain http to another machine

    def __repr__(self) -> str:
        return f"<Address {self.shown}>"

    def leaks(self, text: str) -> bool:
        """Whether a piece of a secret stands in a text."""
        return any(
            secret[at : at + _PIECE] in text for secret in self.secrets for at in range(len(secret) - _PIECE + 1)
        )


def read_address(base_url: str, api_key: str) -> Address:
    """The address of a server's chat completions; without a `target` if it is none."""
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname or "", parts.port
    except ValueError:  # [bad, host:abc
        return Address("", NO_ADDRESS, "", (api_key,), None, False)
    if parts.scheme not in ("http", "https") or not host:
        return Address("", NO_ADDRESS, "", (api_key,), None, False)
    secrets = tuple(unquote(secret) for secret in (api_key, parts.password, parts.query, parts.fragment) if secret)
    place = parts.netloc.rpartition("@")[2]
    path = f"{parts.path.rstrip('/')}/chat/completions"
    target = parts._replace(netloc=place, path=path, fragment="").geturl()
    authorization = ""
    if parts.username or parts.password:
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    local = _is_loopback(host)
    shown = _shown(parts, place, api_key)
    return Address(target, shown, authorization, secrets, None if local else _proxy(parts.scheme, host),
                   parts.scheme == "http" and not local)  # fmt: skip


def _shown(parts: SplitResult, place: str, api_key: str) -> str:
    # An @ behind the host: a proxy's path with a password of its own, or one with an unquoted slash in front of it.
    if "@" in parts.path + parts.query + parts.fragment:
        return f"{parts.scheme}://{parts.hostname}/{_HIDDEN}"
    shown = f"{parts.scheme}://{place}{parts.path}"
    return shown.replace(api_key, _HIDDEN) if len(api_key) >= _PIECE else shown


def _is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _proxy(scheme: str, host: str) -> str | None:
    """The environment's proxy for a host."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = None if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def make_http_client(sdk: Any, address: Address) -> Any:
    """A client for the SDK that asks `address` and nobody else; EvaluationError if that cannot be."""
    http = importlib.import_module(sdk.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])  # httpx or its heir
    try:
        transport = Transport(http, address)
    except (ValueError, ImportError, http.InvalidURL):  # its text may hold a password
        raise EvaluationError("the language model's address (OPENAI_BASE_URL) or the proxy cannot be used") from None
    return http.Client(transport=transport, trust_env=False, follow_redirects=False)


class Transport:
    """Sends whatever is asked to one address, and reads at most `MAX_BODY` bytes of the answer."""

    def __init__(self, http: Any, address: Address) -> None:
        self._http, self._address = http, address
        self._target = http.URL(address.target or "http://invalid.")
        self._inner = http.HTTPTransport(proxy=address.proxy)

    def handle_request(self, request: Any) -> Any:
        hidden = {"host", "content-length", "transfer-encoding", "accept-encoding"}
        headers = [(name, value) for name, value in request.headers.items() if name.lower() not in hidden]
        headers.append(("accept-encoding", "identity"))
        if self._address.authorization:
            headers = [pair for pair in headers if pair[0].lower() != "authorization"]
            headers.append(("authorization", self._address.authorization))
        sent = self._http.Request(
            request.method, self._target, headers=headers, content=request.read(), extensions=request.extensions
        )
        response = self._inner.handle_request(sent)
        try:
            body = _read_bounded(response.headers.get("content-encoding", ""), response.iter_raw())
        finally:
            response.close()
        gone = {"content-encoding", "content-length", "transfer-encoding"}
        kept = [(name, value) for name, value in response.headers.items() if name.lower() not in gone]
        return self._http.Response(response.status_code, headers=kept, content=body)

    def close(self) -> None:
        self._inner.close()

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_bounded(encoding: str, chunks: Iterable[bytes]) -> bytes:
    """At most `MAX_BODY` bytes of a body, decompressed; what cannot be decompressed is empty."""
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        return b""
    decoder = zlib.decompressobj(47) if encoding not in ("", "identity") else None  # gzip or zlib, by its header
    body = b""
    for chunk in chunks:
        left = MAX_BODY - len(body)
        try:
            body += decoder.decompress(chunk, left) if decoder else chunk[:left]
        except zlib.error:
            return b""
        if len(body) >= MAX_BODY:
            break
    return body
