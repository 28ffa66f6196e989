"""StatefulSets as the stock controller runs them: pods with lasting names, revisions, rolling updates."""
