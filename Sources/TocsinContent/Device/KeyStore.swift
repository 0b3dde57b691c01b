/// Keeps secret keys on the device: a wallet's, or those that open sealed messages.
///
/// On Apple's platforms the Keychain is behind it, and in tests `MemoryKeyStore`. What conforms
/// must never write a key to a log, to a backup or to a folder that is shared with other apps.
public protocol KeyStore: Sendable {
    /// The key of this name, or `nil` when there is none.
    ///
    /// A key with `.biometric` protection asks the person first; a refusal is `.refused`.
    func key(named name: KeyName) async throws(KeyStoreError) -> [UInt8]?

    /// Keeps a key, in place of an earlier one of the same name.
    func store(_ key: [UInt8], named name: KeyName, protection: KeyProtection) async throws(KeyStoreError)

    /// Forgets a key; one that is not there is no error.
    func removeKey(named name: KeyName) async throws(KeyStoreError)

    /// The names of all keys, in order.
    func names() async throws(KeyStoreError) -> [KeyName]
}

/// What a key is called in a key store, such as `wallet` or `topic/7`.
public struct KeyName: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name itself.
    public let text: String

    /// A key of this name.
    public init(_ text: String) { self.text = text }
    /// A key of this name.
    public init(stringLiteral text: String) { self.text = text }

    /// The name; a key's bytes are never part of it.
    public var description: String { text }

    /// By text.
    public static func < (left: KeyName, right: KeyName) -> Bool { left.text < right.text }
}

/// When a key can be read.
public enum KeyProtection: Sendable, Hashable {
    /// Once the device was unlocked after its start, and only on this device.
    ///
    /// This is for what a notification extension needs. In the Keychain it is
    /// `AfterFirstUnlockThisDeviceOnly`.
    case afterFirstUnlock
    /// Only after the person has shown a face, a finger or the passcode; the text says why.
    ///
    /// This is for a wallet's key. An extension cannot read it.
    case biometric(reason: String)
}

/// Why a key store did not do what was asked.
public enum KeyStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The person did not show who they are.
    case refused
    /// The device has not been unlocked since its start.
    case locked
    /// The system's store failed; the number is its own.
    case failed(status: Int)

    /// What happened, and what to do.
    public var description: String {
        switch self {
        case .refused: "The key was not given out, because the person did not confirm it. Ask again later."
        case .locked: "The key cannot be read before the device was unlocked once. Show the message's placeholder."
        case .failed(let status): "The key store failed with status \(status). Try again."
        }
    }
}
