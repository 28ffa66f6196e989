"""The types that all kinds share."""

META = """\
ObjectMeta: What every object has: its name, its marks, and what the server notes about it.
  annotations {string}: Notes for programs and people; nothing is selected by them.
  creationTimestamp time: When the object was created. Set by the server.
  deletionGracePeriodSeconds int64: How long a deleted object may take to end. Set by the server.
  deletionTimestamp time: When deletion was asked for; the object goes once its finalizers are gone. Set by the server.
  finalizers [string]: Who must agree before the object is removed.
  generateName string: The beginning of a name that the server completes, used when there is no name.
  generation int64: Counts the changes of the wanted state. Set by the server.
  labels {string}: Marks by which objects are selected.
  managedFields [object]: Who set which field. Kept by the server.
  name string: The name, unique among objects of a kind in a namespace. It cannot be changed.
  namespace string: The namespace the object is in. It cannot be changed.
  ownerReferences [OwnerReference]: The objects this one belongs to; when all of them are gone, it goes too.
  resourceVersion string: Which state of the object this is. Sent back, it makes the server refuse to overwrite changes.
  uid string: Tells this object from any other that ever had its name. Set by the server.
OwnerReference: One owner of an object, in the same namespace or of the cluster.
  apiVersion string!: Group and version of the owner.
  blockOwnerDeletion bool: Whether a foreground deletion of the owner waits for this object.
  controller bool: Whether this owner is the one that manages the object.
  kind string!: Kind of the owner.
  name string!: Name of the owner.
  uid string!: UID of the owner.
ListMeta: What every list has.
  continue string: Asks for the next page; empty on the last one.
  remainingItemCount int64: How many objects come after this page.
  resourceVersion string: The state the list shows; a watch may begin here.
LabelSelector: Selects objects by their labels; all parts must hold, and an empty selector selects everything.
  matchExpressions [LabelSelectorRequirement]: Requirements on labels.
  matchLabels {string}: Labels an object must have with exactly these values.
LabelSelectorRequirement: One requirement on a label.
  key string!: The label.
  operator string!: In, NotIn, Exists or DoesNotExist.
  values [string]: The values for In and NotIn.
Condition: One thing that is or is not the case with an object.
  lastTransitionTime time!: When the status last changed.
  message string!: A sentence for people.
  observedGeneration int64: The generation of the object that the condition speaks of.
  reason string!: One word for programs.
  status string!: True, False or Unknown.
  type string!: What the condition is about.
"""
