"""What all tests share."""

import functools
import os
import ssl
from collections.abc import Iterator

import pytest
from hypothesis import settings

from llm_server import LlmServer

settings.register_profile("patient", deadline=None)  # no test may depend on how loaded the machine is
settings.load_profile("patient")

for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
    os.environ.pop(name, None)  # no test may ask a real server


@pytest.fixture(scope="session", autouse=True)
def _certificates() -> Iterator[None]:
    """No test speaks TLS, but every client of a model loads certificates, for 30 ms: once is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        yield


@pytest.fixture
def server() -> Iterator[LlmServer]:
    """A language model on loopback that reads the first number of a span."""
    with LlmServer() as started:
        yield started
