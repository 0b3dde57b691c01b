public import JSON

/// What a server gives out for one signed registration: good for five minutes, once, and for one
/// user.
public struct RegistrationChallenge: Sendable, Hashable {
    /// The server's sealed text; it goes back with the proof.
    public let nonce: String
    /// The server's public name.
    public let server: String
    /// Who asked.
    public let userID: String
    /// When it was made, in seconds since 1970.
    public let issued: Int64
    /// When it ends, in seconds since 1970.
    public let expires: Int64

    /// A challenge of these parts.
    public init(nonce: String, server: String, userID: String, issued: Int64, expires: Int64) {
        self.nonce = nonce
        self.server = server
        self.userID = userID
        self.issued = issued
        self.expires = expires
    }

    /// Reads what the query `registrationChallenge { nonce server userId issuedAt expiresAt }`
    /// answers; nil when a part is missing or is no time.
    public init?(json: JSONValue) {
        guard let nonce = json["nonce"]?.stringValue, let server = json["server"]?.stringValue,
            let userID = json["userId"]?.stringValue,
            let issued = json["issuedAt"]?.stringValue.flatMap(UTCSeconds.init),
            let expires = json["expiresAt"]?.stringValue.flatMap(UTCSeconds.init)
        else { return nil }
        self.init(
            nonce: nonce,
            server: server,
            userID: userID,
            issued: issued.sinceEpoch,
            expires: expires.sinceEpoch
        )
    }
}

/// A moment of whole seconds, as the signed text writes it: `2026-11-23T11:49:55Z`.
package struct UTCSeconds: Sendable, Hashable, CustomStringConvertible {
    /// Seconds since 1970, not before it and not beyond the year 9999.
    package let sinceEpoch: Int64

    /// A moment so many seconds after 1970 began.
    package init(sinceEpoch: Int64) {
        self.sinceEpoch = min(max(sinceEpoch, 0), 253_402_300_799)
    }

    /// Reads a time in UTC of exactly this form; nil for any other text.
    package init?(_ text: String) {
        let form = Array("0000-00-00T00:00:00Z".utf8)
        let bytes = Array(text.utf8)
        guard bytes.count == form.count else { return nil }
        var numbers: [Int64] = [0]
        for (byte, sample) in zip(bytes, form) {
            if sample == UInt8(ascii: "0"), (0x30...0x39).contains(byte) {
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - 0x30)
            } else {
                guard byte == sample, sample != UInt8(ascii: "0") else { return nil }
                numbers.append(0)
            }
        }
        let days = Self.days(year: numbers[0], month: numbers[1], day: numbers[2])
        self.init(sinceEpoch: days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5])
        // What has no such day or hour is written differently.
        guard description == text else { return nil }
    }

    /// The text in UTC.
    package var description: String {
        let (year, month, day) = Self.date(sinceEpoch / 86_400)
        let time = sinceEpoch % 86_400
        let date = [Self.padded(year, 4), Self.padded(month, 2), Self.padded(day, 2)].joined(separator: "-")
        let clock = [time / 3600, time / 60 % 60, time % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(clock)Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Days since 1970, counting years from March so that the leap day comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let fromMarch = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return fromMarch * 365 + fromMarch / 4 - fromMarch / 100 + fromMarch / 400 + dayOfYear - 719_468
    }

    private static func date(_ daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSinceEpoch + 719_468
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = yearOfEra + days / 146_097 * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }
}
