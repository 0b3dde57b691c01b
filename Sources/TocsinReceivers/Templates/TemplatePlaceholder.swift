package import JSON

/// What stands between braces: places or texts of which the first that is there counts, then
/// filters.
package struct TemplatePlaceholder: Sendable, Hashable {
    /// A place, or a text in quotes.
    package enum Term: Sendable, Hashable {
        case place(TemplatePlace)
        case literal(JSONValue)
    }

    /// When the next term stands in.
    enum Joint: Sendable, Hashable {
        /// `|` in routes: the one before is null.
        case ifNull
        /// `??`: the one before is null or empty.
        case ifEmpty
    }

    /// As it was written, with its braces.
    package let source: String
    /// One or more.
    package let terms: [Term]
    /// One less than the terms.
    let joints: [Joint]
    /// From left to right.
    let filters: [TemplateFilter]

    /// All places that it looks at.
    package var places: [TemplatePlace] {
        terms.compactMap { if case .place(let place) = $0 { place } else { nil } }
    }

    /// The place, where it is nothing but one.
    package var onlyPlace: TemplatePlace? { terms.count == 1 && filters.isEmpty ? places.first : nil }

    /// Whether it looks into the list's item at hand.
    var isOfItem: Bool { places.contains { $0.root == .item } }
}
