/// What one user of the template language may name between braces.
///
/// Routes and receivers share places, filters and lists. They differ in what stands beside the
/// document, and in what a bar means.
package struct TemplateDialect: Sendable {
    /// The names that may follow a group's name and a dot.
    enum Names: Sendable {
        /// Any.
        case any
        /// Any, in any case.
        case anyCase
        /// 1 and more.
        case positions
        /// These.
        case only([String])
    }

    /// What is looked up beside the document: `{header.x}`.
    let groups: [String: Names]
    /// What may follow `$`; nil: the reader of the template judges.
    let variables: [String]?
    /// Whether `{body}` is the text that was sent.
    let hasBody: Bool
    /// Whether `{a.b|a.c}` is the first that is not null, where no filter is named.
    let isBarAlternative: Bool
    /// Whether `{"from", "words", "default"}` stands for a value.
    let hasChoices: Bool
    /// What to write, for people whose placeholder is none.
    let advice: String

    /// Of REST routes: the data of GraphQL, variables and the caller.
    package static let route = TemplateDialect(
        groups: ["caller": .only(["userId", "username"])],
        variables: nil,
        hasBody: false,
        isBarAlternative: true,
        hasChoices: false,
        advice: "{field.field} of the data, {.field} of a list's item, {$variable}, or {caller.userId}"
    )

    /// Of receivers: the sender's JSON and the request around it.
    package static let receiver = TemplateDialect(
        groups: [
            "header": .anyCase, "query": .any, "form": .any, "path": .positions, "integration": .only(["name"]),
        ],
        variables: ["now"],
        hasBody: true,
        isBarAlternative: false,
        hasChoices: true,
        advice: "{member.member}, {/a/json/pointer}, {.member} of a list's item, {header.Name}, {query.name}, "
            + "{form.name}, {path.1}, {body}, {$now} or {integration.name}"
    )
}
