"""Jobs: observe, plan, execute, once per key and pass."""
