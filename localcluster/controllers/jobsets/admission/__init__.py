"""Admission of JobSets and of their pods: what the JobSet webhooks decide, as far as it was recorded."""
