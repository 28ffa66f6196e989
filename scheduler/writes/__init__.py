"""Everything the scheduler writes: binds first, then conditions; each write is checked against the lease just before it is sent."""
