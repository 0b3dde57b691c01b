/// Why a service refused.
///
/// Each case is one public error code (schema/errors.md); the API layer words it for its clients.
package enum ServiceError: Error, Sendable, Hashable {
    /// Not the caller's, or not there: the two are never told apart.
    case unauthorized
    /// A value means nothing here (a platform, a token's form); the text says what
    /// is wrong and what to do.
    case badInput(String)
    /// A value passes a limit of the server (`docs/limits.md`), or a page or filter cannot be
    /// formed.
    case badRequest(String, BadRequestKind = .other)
    /// An `id` or `key` is taken by other content. Carries the stored record only for who may
    /// read it (`Record.shown`).
    case conflict(Record?)
    /// Another topic of the same owner has this name. Carries it only for who may read it.
    case nameTaken(String, Record?)
    /// What is asked for cannot be while things are as they are; the text says what is in the way.
    case conflicting(String)
    /// The `condition` does not hold. Carries the stored record only for who may read it.
    case conditionFailed(Record?)
    /// The row has another version than the caller named. Carries the stored record
    /// only for who may read it.
    case versionConflict(Record?, expected: Int64, actual: Int64)
    /// A cursor that was changed, or belongs to another topic or caller. With the oldest
    /// one that can be honoured.
    case badCursor(String, oldest: String?)
    /// What comes after the cursor is not kept any more, or not all of it.
    case cursorExpired(String, oldest: String?)
    /// A page token that was changed, or belongs to another field, other
    /// arguments or another caller.
    case badPageToken
    /// A limit of the server would be passed; the text names it.
    case limit(String)
    /// A registration's proof is missing or does not hold; the text never says what of it is wrong.
    case proofRefused(String)
    /// Nobody is signed in by what was shown: a password, or a session that is over.
    case unauthenticated(String)
    /// A session is to do what needs a fresh proof of who is there.
    case reauthenticate
    /// Something was tried too often; it may be tried again after so many seconds.
    case tooManyTries(String, seconds: Int)
    /// The store cannot work just now; nothing was changed.
    case unavailable(String)
    /// The store went away in the middle: nobody knows whether it was changed. To repeat a create
    /// under its id or key is safe.
    case uncertain(String)
    /// Our fault; the text is for the log only.
    case `internal`(String)

    /// What AppSync's clients tell apart among bad requests.
    package enum BadRequestKind: Sendable, Hashable {
        case filter, arguments, pageSize, other
    }

    /// The refusal that a store's error means; only `internal` keeps its details, for the log.
    package init(_ error: StoreError) {
        switch error {
        case .unavailable(let reason, _): self = .unavailable(reason)
        case .tooLarge(let bytes):
            self = .limit(
                "The request asks for more than \(bytes) bytes at once. Ask for fewer records or smaller pages."
            )
        case .unstorable: self = .badRequest("A text contains a NUL character, which is not allowed.")
        case .stopped: self = .unavailable("the server is stopping")
        case .uncertain(let reason, _): self = .uncertain(reason)
        case .overtaken, .statement, .mismatch: self = .internal(error.description)
        }
    }
}

extension Store {
    /// `read` with the store's errors as service errors.
    package func reading<Value: Sendable>(
        for origin: ReadOrigin,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(ServiceError) -> Value {
        do {
            return try await read(for: origin, body)
        } catch {
            throw ServiceError(error)
        }
    }

    /// `write` of a body that may refuse: a refusal is a value inside the
    /// group, an error to the caller.
    ///
    /// A body must refuse before it writes anything.
    package func writing<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> Value {
        let result: Result<Value, ServiceError>
        do {
            result = try await write(body)
        } catch {
            throw ServiceError(error)
        }
        return try result.get()
    }
}
