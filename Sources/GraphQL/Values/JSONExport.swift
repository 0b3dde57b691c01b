// Arguments, variables and extensions are JSON values, so `import GraphQL` alone must show their members. The attribute
// has no other spelling yet.
@_exported public import JSON
