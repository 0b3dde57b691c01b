/// Tries out receivers, without a key and without a store.
package protocol ReceiverPreviewing: Sendable {
    /// What a sender's request would become now.
    func preview(_ request: PreviewedRequest) -> ReceiverPreview
}
