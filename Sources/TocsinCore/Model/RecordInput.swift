/// The values a client gave for a record's declared fields, by field name: absent, null and
/// a value are three things.
///
/// A short list in the order in which they were given: a name is found by comparison.
package struct RecordInput: Sendable {
    fileprivate struct Entry {
        let name: String
        /// Its position in the model's fields; below zero where the input was made without one.
        let position: Int
        var value: FieldValue
    }

    /// The model whose positions the entries have.
    private let model: ModelType?
    private var entries: [Entry] = []

    /// An input without values.
    package init() { model = nil }

    /// An input without values, to be filled by position, for so many.
    package init(of model: ModelType, capacity: Int) {
        self.model = model
        entries.reserveCapacity(capacity)
    }

    /// Adds the value of a field that has none yet.
    package mutating func append(_ value: FieldValue, at position: Int) {
        guard let model else { return }
        entries.append(Entry(name: model.fields[position].name, position: position, value: value))
    }

    /// The value of a field, nil when none was given; setting nil removes it.
    package subscript(name: String) -> FieldValue? {
        get {
            for index in entries.indices where entries[index].name == name { return entries[index].value }
            return nil
        }
        set {
            let index = entries.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?):
                entries.append(Entry(name: name, position: model?.position(of: name) ?? -1, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The value of the field at a position of a model; nil when none was given,
    /// or there is no such field.
    package func value(ofFieldAt position: Int?, in model: ModelType) -> FieldValue? {
        guard let position else { return nil }
        guard model === self.model else { return self[model.fields[position].name] }
        for index in entries.indices where entries[index].position == position { return entries[index].value }
        return nil
    }

    /// How many values there are.
    package var count: Int { entries.count }
    /// The position in a model of the field that the value at an index of the list is for; nil
    /// when it has no such field.
    package func position(at index: Int, in model: ModelType) -> Int? {
        let position = entries[index].position
        return position >= 0 && model === self.model ? position : model.position(of: entries[index].name)
    }

    /// The value at an index of the list.
    package func value(at index: Int) -> FieldValue { entries[index].value }
    /// The name of the field that the value at an index of the list is for.
    package func name(at index: Int) -> String { entries[index].name }
}

extension RecordInput: Sequence {
    /// Walks the given values in the order in which they were given.
    package struct Iterator: IteratorProtocol {
        private var entries: IndexingIterator<[Entry]>

        fileprivate init(_ entries: [Entry]) { self.entries = entries.makeIterator() }

        /// The next field with its value; nil at the end.
        package mutating func next() -> (key: String, value: FieldValue)? {
            entries.next().map { ($0.name, $0.value) }
        }
    }

    /// An iterator at the first value.
    package func makeIterator() -> Iterator { Iterator(entries) }
}

extension RecordInput: ExpressibleByDictionaryLiteral {
    /// An input of these values; a name given twice stands twice.
    package init(dictionaryLiteral values: (String, FieldValue)...) {
        self.init()
        for (name, value) in values { self[name] = value }
    }
}
