package import JSON

/// Where in a token a claim stands: by its full name, or by names with dots between them.
///
/// `https://example.com/groups` is one name, as Auth0 writes them; `realm_access.roles` is the
/// member `roles` of `realm_access`, as Keycloak writes them.
package struct ClaimPath: Sendable, Hashable, CustomStringConvertible {
    /// The path as the settings write it.
    package let description: String

    /// The path of a text that is not empty.
    package init(_ text: String) {
        description = text
    }

    /// The claim; nil when there is none.
    ///
    /// A claim with the whole text as its name comes first.
    package func value(in claims: JSONObject) -> JSONValue? {
        if let claim = claims[description] { return claim }
        guard !description.contains("://") else { return nil }
        let names = description.split(separator: ".", omittingEmptySubsequences: false)
        return names.reduce(JSONValue.object(claims) as JSONValue?) { value, name in value?[String(name)] }
    }
}
