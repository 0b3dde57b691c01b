/// Something an execution holds on to without knowing its type.
///
/// It is cast back without a check. Resolvers, context and objects of an `ExecutableSchema` come
/// from one `ResolverMap`, whose type says what they are, and no other code makes or reads these
/// boxes.
@usableFromInline
typealias Shared = AnyObject & Sendable

/// Objects that share a selection, with their type forgotten.
@usableFromInline
protocol RowOwner: AnyObject, Sendable {
    /// Where they are.
    var rows: Rows { get }
    /// These objects, and after them those of another owner of the same type.
    func joined(with other: any RowOwner) -> any RowOwner
}

/// Objects that share a selection, one row each.
///
/// Only code that is compiled where the application registers its resolvers knows the type. The
/// engine itself is not generic: another module's generic code runs unspecialised and looks up
/// metadata for every value. That was a third of the time of a small response.
@usableFromInline
final class ObjectColumn<Object: Sendable>: RowOwner {
    @usableFromInline let objects: [Object]

    @inlinable
    init(_ objects: [Object]) {
        self.objects = objects
    }

    @inlinable var rows: Rows { Rows(self) }

    @inlinable
    func joined(with other: any RowOwner) -> any RowOwner {
        ObjectColumn(objects + unsafeDowncast(other, to: ObjectColumn<Object>.self).objects)
    }
}

/// Where the rows of an `ObjectColumn` are in memory.
@usableFromInline
struct Rows {
    /// The first row.
    let base: UnsafeRawPointer
    /// The distance to the next.
    let stride: Int
    let count: Int

    @inlinable
    init<Object: Sendable>(_ column: ObjectColumn<Object>) {
        // The pointer outlives the closure: an array's elements stay where they are while it is
        // alive and unchanged, and the column is neither changed nor let go before these rows.
        let base = column.objects.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
        self.init(
            base: base ?? UnsafeRawPointer(Unmanaged.passUnretained(column).toOpaque()),
            stride: MemoryLayout<Object>.stride,
            count: column.objects.count
        )
    }

    @usableFromInline
    init(base: UnsafeRawPointer, stride: Int, count: Int) {
        self.base = base
        self.stride = stride
        self.count = count
    }
}

/// One row, seen in its place.
///
/// Noncopyable, so that a leaf borrows the object instead of copying it, which would retain and
/// release every string it holds. It has the layout of the object, its one member, so that a
/// column's memory can be read as rows.
@usableFromInline
struct Row<Object: Sendable>: ~Copyable {
    @usableFromInline let object: Object

    @inlinable
    @inline(__always)
    static func write(
        _ row: borrowing Row<Object>,
        _ write: (Object, inout LeafWriter) -> Void,
        _ out: inout LeafWriter
    ) {
        write(row.object, &out)
    }
}

/// A request's own value.
@usableFromInline
final class ContextBox<Context: Sendable>: Sendable {
    @usableFromInline let context: Context

    @inlinable
    init(_ context: Context) {
        self.context = context
    }
}

/// What resolvers gave for one field, with their type forgotten.
@usableFromInline
final class ValueColumn<Object: Sendable>: Sendable {
    // Unsafe without harm: only the execution that made the column takes from it, once.
    @usableFromInline nonisolated(unsafe) var values: [ResolvedValue<Object>]

    @inlinable
    init(_ values: [ResolvedValue<Object>]) {
        self.values = values
    }

    /// Gives the values away, so that their objects can be moved instead of copied.
    @inlinable
    func take() -> [ResolvedValue<Object>] {
        var taken: [ResolvedValue<Object>] = []
        swap(&taken, &values)
        return taken
    }
}

/// Names the object type of a value of an abstract type.
@usableFromInline
final class TypeNaming<Object: Sendable>: Sendable {
    @usableFromInline let name: @Sendable (Object) -> String

    @usableFromInline
    init(_ name: @escaping @Sendable (Object) -> String) {
        self.name = name
    }
}
