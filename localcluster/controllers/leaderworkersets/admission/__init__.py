"""Admission of LeaderWorkerSets and of their pods: what the LWS webhooks decide, and a server that answers so."""
