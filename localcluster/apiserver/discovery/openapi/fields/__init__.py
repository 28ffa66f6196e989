"""What the built-in kinds look like, as compact tables: the fields people use, each with one sentence.

These are no copy of Kubernetes' own documents: they are shorter, and below the first few levels anything may be sent. They
decide which fields of the built-in kinds the server knows, so a described type must name all of its fields.
"""

from localcluster.apiserver.discovery.openapi.compact import Types
from localcluster.apiserver.discovery.openapi.fields import admin, batch, core, meta, node, pod, storage, volumes

TYPES = Types(
    {
        "io.k8s.apimachinery.pkg.apis.meta.v1": meta.META,
        "io.k8s.api.core.v1": pod.POD + volumes.VOLUMES + storage.VOLUMES + node.NODE + core.CORE,
        "io.k8s.api.batch.v1": batch.BATCH,
        "io.k8s.api.apps.v1": batch.APPS,
        "io.k8s.api.policy.v1": admin.POLICY,
        "io.k8s.api.scheduling.v1": admin.SCHEDULING,
        "io.k8s.api.coordination.v1": admin.COORDINATION,
        "io.k8s.api.storage.v1": storage.STORAGE,
        "io.k8s.api.rbac.v1": admin.RBAC,
        "io.k8s.api.admissionregistration.v1": admin.ADMISSION,
    }
)
