/// Named members in order.
///
/// Setting a key that is there replaces its value in place, so of duplicates the last wins.
///
/// Two objects are equal when they hold equal members in the same order. Few members are
/// searched one by one, many through an index, so that an object from outside with many
/// members stays cheap to build.
public struct JSONObject: Sendable, Sequence, ExpressibleByDictionaryLiteral {
    /// One member.
    public struct Element: Sendable, Hashable {
        /// The member's name.
        public var key: String
        /// The member's value.
        public var value: JSONValue

        /// Joins a name and a value.
        public init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    private static let indexedFrom = 17
    private var elements: [Element] = []
    private var positions: [String: Int]?

    /// An object without members.
    public init() {}

    /// An object with these members; of two with the same key the last value wins, where the first
    /// one was.
    public init(_ members: [(String, JSONValue)]) {
        elements.reserveCapacity(members.count)
        for (key, value) in members { self[key] = value }
    }

    /// An object with these members in order.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }

    /// The value of a member, or `nil` when there is none; setting `nil` removes the member.
    public subscript(key: String) -> JSONValue? {
        get { position(of: key).map { elements[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): elements[position].value = value
            case (let position?, nil): remove(at: position)
            case (nil, let value?): append(key, value)
            case (nil, nil): break
            }
        }
    }

    /// Sets the value of a member that is there or is not.
    public mutating func set(_ key: consuming String, _ value: consuming JSONValue) {
        if let position = position(of: key) {
            elements[position].value = value
        } else {
            append(key, value)
        }
    }

    /// Adds a member whose key none of those there has.
    public mutating func append(_ key: consuming String, _ value: consuming JSONValue) {
        assert(position(of: key) == nil, "The object has a member of this key.")
        // Most objects have few members: room for them at once instead of one, two and four.
        if elements.isEmpty { elements.reserveCapacity(4) }
        if positions != nil { positions?[copy key] = elements.count }
        elements.append(Element(key: key, value: value))
        if positions == nil, elements.count >= Self.indexedFrom { rebuildIndex() }
    }

    /// The key of the member at an index.
    public func key(at index: Int) -> String { elements[index].key }
    /// The value of the member at an index.
    public func value(at index: Int) -> JSONValue { elements[index].value }

    /// How many members there are.
    public var count: Int { elements.count }
    /// Whether there are no members.
    public var isEmpty: Bool { elements.isEmpty }
    /// The members' names in order.
    public var keys: [String] { elements.map(\.key) }
    /// The members' values in order.
    public var values: [JSONValue] { elements.map(\.value) }

    /// Makes room for so many members at once.
    public mutating func reserveCapacity(_ count: Int) { elements.reserveCapacity(count) }

    /// Walks the members in order.
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    private func position(of key: borrowing String) -> Int? {
        if let positions { return positions[copy key] }
        return elements.withUnsafeBufferPointer { elements in
            for position in 0..<elements.count where elements[position].key == key { return position }
            return nil
        }
    }

    private mutating func remove(at position: Int) {
        elements.remove(at: position)
        if positions != nil { rebuildIndex() }
    }

    private mutating func rebuildIndex() {
        var index: [String: Int] = [:]
        index.reserveCapacity(elements.count * 2)
        for (position, element) in elements.enumerated() { index[element.key] = position }
        positions = index
    }
}

extension JSONObject: Hashable {
    /// Whether both hold equal members in the same order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool { left.elements == right.elements }

    /// Feeds the members in order.
    public func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}
