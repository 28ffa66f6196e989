"""The fields of Kubernetes' messages, as text that `messages` reads; generated but for this file."""

from localcluster.apiserver.protobuf.tables import core, groups

TABLES = core.TABLES + groups.TABLES
