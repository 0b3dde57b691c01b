/// What a model asks for beyond its schema: looked at in the transaction of each write, before it.
///
/// A refusal is told to the caller; nothing has been written then.
package protocol ModelHook: Sendable {
    /// The name of the model.
    var model: String { get }
    /// Checks a create, and may change its input.
    func willCreate(_ input: inout RecordInput, _ write: HookedWrite) throws(StoreError) -> ServiceError?
    /// Checks an update, and may change the record that it makes.
    func willUpdate(_ record: inout Record, was stored: Record, _ write: HookedWrite) throws(StoreError)
        -> ServiceError?
    /// Checks a delete.
    func willDelete(_ stored: Record, _ write: HookedWrite) throws(StoreError) -> ServiceError?
    /// Writes what belongs to a record that was made, changed or deleted in this transaction.
    func didWrite(_ record: Record, _ write: HookedWrite) throws(StoreError)
}

extension ModelHook {
    /// Everything is taken.
    package func willDelete(_ stored: Record, _ write: HookedWrite) throws(StoreError) -> ServiceError? { nil }
    /// Nothing hangs on it.
    package func didWrite(_ record: Record, _ write: HookedWrite) throws(StoreError) {}
}

/// The write that a hook is asked about.
package struct HookedWrite {
    /// The model.
    package let model: ModelType
    /// Who writes.
    package let caller: Identity
    /// The time of the change.
    package let now: Timestamp
    /// The transaction.
    package let writer: any StoreWriter
}
