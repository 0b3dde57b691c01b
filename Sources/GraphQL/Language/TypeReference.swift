/// A type as it is referred to: a name, in any number of lists and non-null marks (GraphQL §2.12).
public indirect enum TypeReference: Sendable, Hashable, CustomStringConvertible {
    /// A type by its name.
    case named(String)
    /// `[T]`
    case list(TypeReference)
    /// `T!`
    case nonNull(TypeReference)

    /// The name inside all lists and marks.
    public var namedType: String {
        switch self {
        case .named(let name): name
        case .list(let inner), .nonNull(let inner): inner.namedType
        }
    }

    /// Whether `null` is excluded at the outermost level.
    public var isNonNull: Bool {
        if case .nonNull = self { true } else { false }
    }

    /// Whether this is a list, non-null or not.
    public var isList: Bool {
        if case .list = nullable { true } else { false }
    }

    /// The same type without the outermost non-null mark.
    public var nullable: TypeReference {
        if case .nonNull(let inner) = self { inner } else { self }
    }

    /// The type of the elements, if this is a list, non-null or not.
    public var element: TypeReference? {
        if case .list(let inner) = nullable { inner } else { nil }
    }

    /// The type as written in a document.
    public var description: String {
        switch self {
        case .named(let name): name
        case .list(let inner): "[\(inner)]"
        case .nonNull(let inner): "\(inner)!"
        }
    }
}
