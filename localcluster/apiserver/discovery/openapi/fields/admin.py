"""Kinds that administer a cluster."""

POLICY = """\
kind PodDisruptionBudget: How many pods of a set may be evicted at a time.
  spec PodDisruptionBudgetSpec: Which pods, and how many.
  status object: How many may be evicted now.
PodDisruptionBudgetSpec: Which pods, and how many may be missing.
  maxUnavailable intOrString: How many may be missing.
  minAvailable intOrString: How many must stay.
  selector LabelSelector: The pods.
  unhealthyPodEvictionPolicy string: Whether pods that are not ready may always be evicted.
"""

SCHEDULING = """\
kind PriorityClass: A name for how important pods are.
  description string: When to use it.
  globalDefault bool: Whether pods without a class get this one.
  preemptionPolicy string: PreemptLowerPriority, or Never.
  value int32!: What it is worth; more goes first. It cannot be changed.
"""

COORDINATION = """\
kind Lease: Says who may act, and how fresh that is.
  spec LeaseSpec: Who holds it.
LeaseSpec: Who holds a lease.
  acquireTime time: Since when.
  holderIdentity string: Who.
  leaseDurationSeconds int32: How long others must wait after the last renewal.
  leaseTransitions int32: How often it changed hands.
  preferredHolder string: Who should hold it.
  renewTime time: When it was last renewed.
  strategy string: How the holder is chosen.
"""

RBAC = """\
kind ClusterRole: What may be done, anywhere.
  aggregationRule object: Other roles whose rules it takes over.
  rules [PolicyRule]: What may be done.
kind Role: What may be done in a namespace.
  rules [PolicyRule]: What may be done.
PolicyRule: Verbs on resources.
  apiGroups [string]: The groups; * for all.
  nonResourceURLs [string]: Paths that are no resources.
  resourceNames [string]: Only the objects of these names.
  resources [string]: The resources; * for all.
  verbs [string]!: The verbs; * for all.
kind ClusterRoleBinding: Gives a ClusterRole to users, everywhere.
  roleRef RoleRef!: The role.
  subjects [Subject]: Who gets it.
kind RoleBinding: Gives a role to users, in one namespace.
  roleRef RoleRef!: The role.
  subjects [Subject]: Who gets it.
RoleRef: Names a role.
  apiGroup string!: Its group.
  kind string!: Role or ClusterRole.
  name string!: Its name.
Subject: A user, group or service account.
  apiGroup string: Its group.
  kind string!: User, Group or ServiceAccount.
  name string!: Its name.
  namespace string: Its namespace, for service accounts.
"""

ADMISSION = """\
kind MutatingWebhookConfiguration: Webhooks that may change what is written.
  webhooks [MutatingWebhook]: The webhooks, called in turn.
kind ValidatingWebhookConfiguration: Webhooks that may refuse what is written.
  webhooks [ValidatingWebhook]: The webhooks, called at once.
MutatingWebhook: One webhook.
  admissionReviewVersions [string]!: The versions of the question it understands.
  clientConfig object!: Where it is, and whose certificate it has.
  failurePolicy string: What no answer means: Ignore or Fail.
  matchConditions [object]: CEL expressions; it is asked only if all hold.
  matchPolicy string: Exact or Equivalent.
  name string!: Its full name.
  namespaceSelector LabelSelector: Asked only for objects in these namespaces.
  objectSelector LabelSelector: Asked only for these objects.
  reinvocationPolicy string: Whether it is asked again after others changed the object.
  rules [object]: The writes it is asked about.
  sideEffects string!: None or NoneOnDryRun.
  timeoutSeconds int32: How long an answer may take; 10 if left out.
ValidatingWebhook: One webhook.
  admissionReviewVersions [string]!: The versions of the question it understands.
  clientConfig object!: Where it is, and whose certificate it has.
  failurePolicy string: What no answer means: Ignore or Fail.
  matchConditions [object]: CEL expressions; it is asked only if all hold.
  matchPolicy string: Exact or Equivalent.
  name string!: Its full name.
  namespaceSelector LabelSelector: Asked only for objects in these namespaces.
  objectSelector LabelSelector: Asked only for these objects.
  rules [object]: The writes it is asked about.
  sideEffects string!: None or NoneOnDryRun.
  timeoutSeconds int32: How long an answer may take; 10 if left out.
kind ValidatingAdmissionPolicy: Rules in CEL for what is written.
  spec ValidatingAdmissionPolicySpec: The rules.
  status object: What is wrong with their types.
ValidatingAdmissionPolicySpec: Rules for what is written.
  auditAnnotations [object]: What is noted in the audit log.
  failurePolicy string: What an error in a rule means: Ignore or Fail.
  matchConditions [object]: CEL expressions; the rules hold only if all are true.
  matchConstraints object: The writes the rules are for.
  paramKind object: The kind of the parameters.
  validations [object]: The rules.
  variables [object]: Expressions with a name.
kind ValidatingAdmissionPolicyBinding: Puts a policy in force.
  spec ValidatingAdmissionPolicyBindingSpec: Which policy, and for what.
ValidatingAdmissionPolicyBindingSpec: Which policy is in force, and for what.
  matchResources object: The writes it holds for, if not for all of the policy's.
  paramRef object: The parameters.
  policyName string: The policy.
  validationActions [string]: What a violation does: Deny, Warn or Audit.
"""
