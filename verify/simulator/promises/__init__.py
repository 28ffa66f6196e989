"""The promises of a simulated run, checked on the objects in the server's memory: some at every change, the others at rest."""
