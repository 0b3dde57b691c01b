/// Names in order, each once, with a table behind them as soon as there are many.
struct NameList {
    private(set) var names: [NameSlice] = []
    private var positions: [NameSlice: Int] = [:]
    /// So many names or fewer are compared one by one, which is faster than a table.
    private static let few = 12

    /// The index of a name.
    func position(of name: NameSlice) -> Int? {
        positions.isEmpty ? names.firstIndex(of: name) : positions[name]
    }

    func contains(_ name: NameSlice) -> Bool { position(of: name) != nil }

    /// Adds a name unless it is there; answers its index and whether it is new.
    @discardableResult
    mutating func insert(_ name: NameSlice) -> (position: Int, isNew: Bool) {
        if let position = position(of: name) { return (position, false) }
        names.append(name)
        if !positions.isEmpty {
            positions[name] = names.count - 1
        } else if names.count > Self.few {
            for (position, name) in names.enumerated() { positions[name] = position }
        }
        return (names.count - 1, true)
    }

    mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
        if !positions.isEmpty { positions.removeAll(keepingCapacity: true) }
    }
}
