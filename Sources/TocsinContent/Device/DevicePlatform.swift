/// Whose pushes an installed app takes.
public enum PushPlatform: String, Sendable, Hashable, CaseIterable {
    /// An app on one of Apple's devices.
    case ios
    /// An app on Android.
    case android
    /// A page in a browser.
    case web

    /// The platform of this name; `nil` for any other text, also for one in capitals.
    public init?(_ text: String) { self.init(rawValue: text) }
}

/// Bytes as hexadecimal digits in lower case: how an APNs device token is registered.
public func hexEncoded(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount * 2)
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 0x0F)])
    }
    return String(decoding: text, as: UTF8.self)
}
