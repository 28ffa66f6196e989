"""What is written of a claim: its allocation, its consumers, what drivers report of its devices. Pure.

Who may write that, and whether a namespace may have admin access, is admission's matter (`extension/admission/devices.py`).
"""

import ipaddress
import re
from functools import partial
from typing import Any, Final

from localcluster.apiserver.fielderrors import (
    FieldError,
    forbidden_field,
    invalid_value,
    required,
    too_many,
    unsupported,
)
from localcluster.apiserver.kinds.devices.devices import condition_errors
from localcluster.apiserver.kinds.devices.names import (
    RequestNames,
    driver_errors,
    each_of,
    label_errors,
    pool_errors,
    request_names,
    request_reference_errors,
    typed_driver_errors,
    typed_pool_errors,
)
from localcluster.apiserver.kinds.devices.nodes import selector_errors
from localcluster.apiserver.kinds.devices.parameters import configuration_errors, raw_errors, requests_errors
from localcluster.apiserver.kinds.devices.tolerations import toleration_errors
from localcluster.apiserver.kinds.kind import Object

MAX_CONSUMERS: Final = 256
MAX_RESULTS: Final = 32
MAX_CONFIGS: Final = 64
MAX_DEVICE_CONDITIONS: Final = 8
MAX_DATA_BYTES: Final = 10 * 1024
MAX_ADDRESSES: Final = 16
_SOURCES: Final = ("FromClaim", "FromClass")
_is_uuid: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_BAD_UUID: Final = "must be a lowercase UUID in 8-4-4-4-12 format"
_NEW_WHILE_DELETED: Final = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"

DeviceKey = tuple[str, str, str, str]
"""Driver, pool, device, share."""


def device_key(device: Object) -> DeviceKey:
    """By what allocated devices are told apart."""
    driver, pool, name, share = (device.get(each) or "" for each in ("driver", "pool", "device", "shareID"))
    return driver, pool, name, share


def drop_reports_of_released(status: Object, old: Object) -> None:
    """What was reported of devices goes with their allocation; in place."""
    held = {device_key(each) for each in _results(status)}
    released = {device_key(each) for each in _results(old)} - held
    kept = [each for each in status.get("devices") or [] if device_key(each) not in released]
    status.pop("devices", None)
    if kept:
        status["devices"] = kept


def _results(status: Object) -> list[Object]:
    return ((status.get("allocation") or {}).get("devices") or {}).get("results") or []


def status_errors(claim: Object, old: Object, field: str) -> list[FieldError]:
    """The faults of a claim's status, and of the change."""
    status, before = claim.get("status") or {}, old.get("status") or {}
    consumers, allocation = status.get("reservedFor") or [], status.get("allocation")
    errors = each_of(
        consumers, f"{field}.reservedFor", MAX_CONSUMERS, _consumer, key=lambda each: each.get("uid") or ""
    )
    known = {device_key(each) for each in _results(status)}
    reports = status.get("devices") or []
    errors += each_of(reports, f"{field}.devices", len(reports), partial(_report, known=known), key=device_key)
    if consumers and allocation is None:
        errors.append(forbidden_field(f"{field}.reservedFor", "may not be specified when `allocated` is not set"))
    elif claim["metadata"].get("deletionTimestamp") and _are_new(consumers, before.get("reservedFor") or []):
        errors.append(forbidden_field(f"{field}.reservedFor", _NEW_WHILE_DELETED))
    if allocation is None:
        return errors
    if before.get("allocation") is None:
        names = request_names((claim.get("spec") or {}).get("devices") or {})
        return errors + _allocation(allocation, f"{field}.allocation", names)
    if allocation != before["allocation"]:
        errors.append(invalid_value(f"{field}.allocation", None, "field cannot be modified once set"))
    return errors


def _are_new(consumers: list[Object], before: list[Object]) -> bool:
    return any(each not in before for each in consumers)


def _consumer(consumer: Object, field: str) -> list[FieldError]:
    return [required(f"{field}.{key}") for key in ("resource", "name", "uid") if not consumer.get(key)]


def _allocation(allocation: Object, field: str, known: RequestNames) -> list[FieldError]:
    devices, where = allocation.get("devices") or {}, f"{field}.devices"
    results, config = devices.get("results") or [], devices.get("config") or []
    errors = each_of(results, f"{where}.results", MAX_RESULTS, partial(_result, known=known))
    errors += each_of(config, f"{where}.config", MAX_CONFIGS, partial(_config, known=known))
    if allocation.get("nodeSelector") is not None:
        errors += selector_errors(allocation["nodeSelector"], f"{field}.nodeSelector")
    return errors


def _result(result: Object, field: str, *, known: RequestNames) -> list[FieldError]:
    errors = request_reference_errors(result.get("request") or "", f"{field}.request", known)
    errors += typed_driver_errors(result.get("driver") or "", f"{field}.driver")
    errors += typed_pool_errors(result.get("pool") or "", f"{field}.pool")
    errors += label_errors(result.get("device") or "", f"{field}.device")
    errors += condition_errors(result, field)
    for number, each in enumerate(result.get("tolerations") or []):
        errors += toleration_errors(each, f"{field}.tolerations[{number}]")
    return errors + _share(result, field)


def _share(holder: Object, field: str) -> list[FieldError]:
    share = holder.get("shareID")
    return [invalid_value(f"{field}.shareID", share, _BAD_UUID)] if share is not None and not _is_uuid(share) else []


def _config(config: Object, field: str, *, known: RequestNames) -> list[FieldError]:
    source = config.get("source") or ""
    errors = [] if source else [required(f"{field}.source")]
    if source and source not in _SOURCES:
        errors.append(unsupported(f"{field}.source", source, _SOURCES))
    errors += requests_errors(config.get("requests") or [], f"{field}.requests", known)
    return errors + configuration_errors(config, field)


def _report(report: Object, field: str, *, known: set[DeviceKey]) -> list[FieldError]:
    errors = driver_errors(report.get("driver") or "", f"{field}.driver")
    errors += pool_errors(report.get("pool") or "", f"{field}.pool")
    errors += label_errors(report.get("device") or "", f"{field}.device") + _share(report, field)
    key = device_key(report)
    if key not in known:
        shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), key, strict=True))
        errors.append(invalid_value(field, shown, "must be an allocated device in the claim"))
    conditions = report.get("conditions") or []
    if len(conditions) > MAX_DEVICE_CONDITIONS:
        errors.append(too_many(f"{field}.conditions", len(conditions), MAX_DEVICE_CONDITIONS))
    if report.get("data") is not None:
        errors += raw_errors(report["data"], f"{field}.data", MAX_DATA_BYTES)
    addresses = (report.get("networkData") or {}).get("ips") or []
    return errors + each_of(addresses, f"{field}.networkData.ips", MAX_ADDRESSES, _address, key=str)


def _address(address: Any, field: str) -> list[FieldError]:
    try:
        ipaddress.ip_interface(address)
        is_valid = "/" in address
    except ValueError:
        is_valid = False
    text = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
    return [] if is_valid else [invalid_value(field, address, text)]
