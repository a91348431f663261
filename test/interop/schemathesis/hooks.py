"""What schemathesis must know of this product beyond its OpenAPI document.

Loaded by the name in SCHEMATHESIS_HOOKS. GRATICULE_PLAYED_PREFIX is where the simulated network is (`127.x.y.`),
GRATICULE_VERSION_PLACEHOLDER what stands for a version in the examples, GRATICULE_SPARES what may be deleted, and GRATICULE_COUNTS
the file that gets how often each operation answered with each status.
"""

import atexit
import hashlib
import ipaddress
import json
import os
import re
from collections import Counter

import schemathesis

STORY_PREFIX = "192.0.2."
PLAYED_PREFIX = os.environ["GRATICULE_PLAYED_PREFIX"]
COUNTS_FILE = os.environ["GRATICULE_COUNTS"]

# The version that the document's examples show; a reader puts the one there that an answer gave him.
VERSION_PLACEHOLDER = os.environ["GRATICULE_VERSION_PLACEHOLDER"]

# What each DELETE may remove, once, in place of what its example names.
SPARES = json.loads(os.environ["GRATICULE_SPARES"])

# What a DELETE may not remove: the run's own token, without which nothing more can be learnt, and the model of the spare parts.
KEPT = {
    "DELETE /api/v1/tokens/{tokenId}": ("tokenId", "1"),
    "DELETE /api/v1/models/{modelId}": (
        "modelId",
        str(SPARES["DELETE /api/v1/models/{modelId}/fields/{fieldId}"]["modelId"]),
    ),
}

answers: Counter = Counter()
moved: Counter = Counter()
seen_version: list = []


def on_loopback(address: str) -> str:
    """The same address of the simulated network, else one of 127.0.0.0/8 that stands for this one."""
    if address.startswith(STORY_PREFIX):
        return PLAYED_PREFIX + address[len(STORY_PREFIX) :]
    digest = hashlib.sha256(address.encode("utf-8", "surrogatepass")).digest()
    return f"127.{192 + digest[0] % 32}.{digest[1]}.{1 + digest[2] % 254}"


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.split("%")[0])
        return True
    except ValueError:
        return False


def is_loopback(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def move(member: str, value: str) -> str:
    """Nothing that is made up here may be dialled: whatever could be an address of something becomes loopback."""
    if member == "url":
        # A WHATWG parser takes slashes as it finds them, so anything that begins as a web address is one.
        if not re.match(r"^\s*https?:", value, re.IGNORECASE):
            return value
        if value.startswith(f"http://{STORY_PREFIX}"):
            return value.replace(STORY_PREFIX, PLAYED_PREFIX, 1)
        moved[member] += 1
        return f"http://{on_loopback(value)}:9/"
    is_name = member == "address" and re.fullmatch(r"[A-Za-z0-9.-]+", value) is not None
    if is_loopback(value) or not (is_address(value) or is_name):
        return value
    # An address that no peer or device may have is refused before anything is dialled; that refusal is to be seen.
    if is_address(value) and not is_unicast(value):
        return value
    moved[member] += 1
    return on_loopback(value)


def is_unicast(text: str) -> bool:
    address = ipaddress.ip_address(text.split("%")[0])
    return not (address.is_multicast or address.is_unspecified or address.is_link_local)


def move_all(value, member=""):
    if isinstance(value, dict):
        return {name: move_all(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [move_all(inner) for inner in value]
    if isinstance(value, str) and member in ("peer-address", "address", "url"):
        return move(member, value)
    return value


def operation_name(case) -> str:
    return f"{case.operation.method.upper()} {case.operation.path}"


def is_positive(case) -> bool:
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, (dict, list)):
        case.body = move_all(case.body)
        # Two families for one session are refused, and the peer's is now always IPv4.
        if isinstance(case.body, dict) and isinstance(case.body.get("local-address"), str):
            if is_address(case.body["local-address"]):
                case.body["local-address"] = ""
    spare = SPARES.get(operation_name(case))
    if spare is not None and is_positive(case) and case.method.upper() == "DELETE":
        case.path_parameters = dict(spare)
        case.headers.pop("If-Match", None)
    name, kept = KEPT.get(operation_name(case), (None, None))
    if name is not None and str((case.path_parameters or {}).get(name)) == kept:
        case.path_parameters[name] = 999999
    if (case.query or {}).get("since") == VERSION_PLACEHOLDER and seen_version:
        case.query["since"] = seen_version[-1]
    # Waiting for changes is tried elsewhere; here it would only take time.
    query = case.query or {}
    if str(query.get("wait")).isdigit() and 1 < int(str(query["wait"])) <= 20:
        case.query["wait"] = 1


@schemathesis.hook
def after_call(context, case, response):
    seen_version[:] = response.headers.get("topology-version", []) or seen_version
    answers[f"{operation_name(case)} {response.status_code}"] += 1
    if response.status_code == 204:
        SPARES.pop(operation_name(case), None)


# Rules that no schema can tell: what refers to stored things, depends on another member, or counts octets.
BEYOND_SCHEMAS = {
    "unknown-reference",
    "immutable",
    "duplicate",
    "mask-without-secret",
    "secret-for-new-address",
    "address-not-allowed",
    "required",
}
WORDS_ONLY = re.compile(
    r"^(/auth-password|/keepalive-time|/local-address|/user-peer-as|/local-as|/interval-ms|/mode"
    r"|/snmp/(auth|priv)-password|/config/headers/.*|/config/url|/config/auth-header|/url|/address|)$"
)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Positive data may be refused for what its schema could not say, and for nothing else."""
    if type(failure).__name__ != "RejectedPositiveData":
        return True
    try:
        problem = json.loads(response.content)
    except ValueError:
        return True
    kind = problem.get("type", "").removeprefix("urn:graticule:problem:")
    if kind == "invalid-query":
        # A version is opaque, the ends of a path are nodes that there are now, a prefix has its own syntax.
        is_prefix = re.match(r"(prefix|contains) is ", problem.get("detail", "")) is not None
        return not (is_prefix or case.path.endswith("/changes") or problem.get("errors"))
    if kind != "invalid-body":
        return True
    return not all(
        error["code"] in BEYOND_SCHEMAS or WORDS_ONLY.match(error["pointer"]) for error in problem.get("errors", [])
    )


@atexit.register
def write_counts():
    with open(COUNTS_FILE, "w", encoding="utf-8") as file:
        json.dump({"answers": answers, "moved": moved}, file)
