/// An update that named another version than the stored one and was merged (AppSync's AUTOMERGE).
///
/// What it said of fields that had a value is lost, and its sender saw no error.
package struct StaleMerge: Sendable, Hashable {
    /// The model's name.
    package var model: String
    /// The record's key.
    package var id: String
    /// What the update named; 0 when it named none.
    package var namedVersion: Int64
    /// What was stored.
    package var storedVersion: Int64
}
