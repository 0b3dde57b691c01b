/// The parents of a group, behind a reference that names no type.
///
/// The writer is not generic, because other modules' generic code runs unspecialised and looks up metadata for every
/// value; only the few lines below are, and they are compiled where the application registers its leaves.
@usableFromInline
final class ParentColumn<Object: Sendable>: Sendable {
    @usableFromInline let parents: [Object]

    @usableFromInline
    init(_ parents: [Object]) {
        self.parents = parents
    }
}

/// Writes a leaf of one row of a `ParentColumn`.
@usableFromInline
typealias ErasedLeaf = @Sendable (_ column: AnyObject, _ row: Int, _ out: inout LeafWriter) -> Void
