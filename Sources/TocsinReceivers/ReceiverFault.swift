/// Why nothing of a request was taken; each product has its own way to say it.
package enum ReceiverFault: Sendable, Equatable {
    /// No key, an unknown or ended one, two that differ, a wrong signature.
    case unauthenticated
    /// What is wrong, in sentences; `code` is the product's own number where it has one.
    case badInput([String], code: Int? = nil)
    /// The body's type is none that the shape knows.
    case unsupportedType
    /// The body is longer than is taken; `code` as above.
    case tooLarge(code: Int? = nil)
    /// The integration's rate is used up.
    case rateLimited(retryAfterSeconds: Int)
    /// The key is wrong, and so were too many before it from this address.
    case lockedOut(retryAfterSeconds: Int)
    /// Nothing can be stored now.
    case unavailable(retryAfterSeconds: Int)
    /// Another method is meant; the receiver's `methods` stand in `Allow`.
    case methodNotAllowed
    /// Nothing has this path.
    case notFound
}
