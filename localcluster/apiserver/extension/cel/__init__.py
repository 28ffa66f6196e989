"""CEL as Kubernetes has it, on the library `common-expression-language`.

The library evaluates; these modules add what Kubernetes' environment has and the library lacks, give it values of the types
that a schema says, and put errors into the words of the real server. Known differences that remain:

* Expressions are not type-checked beyond names of variables, functions and the fields of `self`. An expression of the wrong
  type is found when it is evaluated, with `no such overload`.
* There is no cost limit: rules that the real server refuses as too expensive are taken.
* An error in one item of `exists` or `all` is an error, even when another item decides the result.
* Quantities are numbers, so they compare as such; `url`, `ip`, `cidr`, `semver` are not there.
"""
