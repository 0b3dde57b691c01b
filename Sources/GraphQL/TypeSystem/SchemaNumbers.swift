/// The numbers by which hot passes speak of a schema's parts: nothing to retain, and an
/// index into `SchemaIndex`.
struct TypeNumber: Hashable, Sendable {
    let value: Int32
    init(_ value: Int) { self.value = Int32(truncatingIfNeeded: value) }
}

/// The number of a field: `Schema.Field.index`, and behind the last of these
/// the engine's own fields.
struct FieldNumber: Hashable, Sendable {
    let value: Int32
    init(_ value: Int) { self.value = Int32(truncatingIfNeeded: value) }
}

/// The number of an argument, or of a field of an input object type.
struct InputNumber: Hashable, Sendable {
    let value: Int32
    init(_ value: Int) { self.value = Int32(truncatingIfNeeded: value) }
}

/// The number of a directive's definition.
struct DirectiveNumber: Hashable, Sendable {
    let value: Int32
    init(_ value: Int) { self.value = Int32(truncatingIfNeeded: value) }
}

/// The number of a type with its lists and marks; equal references have equal numbers.
struct ReferenceNumber: Hashable, Sendable {
    let value: Int32
    init(_ value: Int) { self.value = Int32(truncatingIfNeeded: value) }
}
