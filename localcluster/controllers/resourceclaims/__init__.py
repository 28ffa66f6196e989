"""The stand-in for the stock resourceclaim controller: claims of pods are made from templates, and given back."""
