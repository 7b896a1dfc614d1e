"""What all providers share to talk HTTP: posting JSON, streaming answers, failures as errors of Onion's."""

from onion.providers._http.client import HTTPClient
from onion.providers._http.failures import Failure, read_failure
from onion.providers._http.headers import check_headers, merge_headers, package_version
from onion.providers._http.limits import HTTPLimits
from onion.providers._http.sending import Reply, Sender
from onion.providers._http.transport import HTTPAnswer, HTTPRequest, HTTPTransport

__all__ = [
    "Failure",
    "HTTPAnswer",
    "HTTPClient",
    "HTTPLimits",
    "HTTPRequest",
    "HTTPTransport",
    "Reply",
    "Sender",
    "check_headers",
    "merge_headers",
    "package_version",
    "read_failure",
]
