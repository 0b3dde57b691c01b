import COpenSSL
import Encodings
package import TocsinCore

/// Passwords hashed with scrypt (RFC 7914) into text that says how:
/// `$scrypt$ln=15,r=8,p=1$SALT$HASH`.
///
/// Making or checking one takes about 0.1 s and 32 MiB: never do it on the cooperative pool.
package enum PasswordHash {
    /// The longest password that is taken, in bytes of UTF-8.
    package static let maximumPasswordBytes = 1024
    private static let costs = Costs(logN: 15, r: 8, p: 1)

    /// The text to store for a password.
    package static func make(_ password: String) throws(KeyError) -> String {
        let bytes = Array(password.utf8)
        guard (1...maximumPasswordBytes).contains(bytes.count) else {
            throw KeyError("A password has 1 to \(maximumPasswordBytes) bytes; this one has \(bytes.count).")
        }
        let salt = RandomBytes.make(16)
        guard let hash = costs.hash(bytes, salt: salt, count: 32) else {
            throw KeyError("The password cannot be hashed: \(LibraryError.take()).")
        }
        return "$scrypt$\(costs.text)$\(Base64URL.encoded(salt))$\(Base64URL.encoded(hash))"
    }

    /// Whether `password` is the one stored as `text`; false too for text that cannot be read.
    package static func verify(_ password: String, against text: String) -> Bool {
        let bytes = Array(password.utf8)
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard (1...maximumPasswordBytes).contains(bytes.count), parts.count == 5, parts[0].isEmpty,
            parts[1] == "scrypt", let costs = Costs(text: parts[2]),
            let salt = Base64URL.decoded(parts[3].utf8), let expected = Base64URL.decoded(parts[4].utf8),
            (16...64).contains(expected.count), (8...64).contains(salt.count),
            let hash = costs.hash(bytes, salt: salt, count: expected.count)
        else { return false }
        return Digest.isEqual(hash, expected)
    }

    /// What scrypt is to spend; bounded, so that a stored text cannot ask for all memory.
    private struct Costs {
        let logN: Int
        let r: Int
        let p: Int

        init(logN: Int, r: Int, p: Int) {
            self.logN = logN
            self.r = r
            self.p = p
        }

        init?(text: Substring) {
            let pairs = text.split(separator: ",").map { $0.split(separator: "=") }
            guard pairs.map({ $0.first }) == ["ln", "r", "p"] else { return nil }
            let numbers = pairs.compactMap { $0.count == 2 ? Int($0[1]) : nil }
            guard numbers.count == 3, (10...18).contains(numbers[0]), (1...16).contains(numbers[1]),
                (1...4).contains(numbers[2])
            else { return nil }
            self.init(logN: numbers[0], r: numbers[1], p: numbers[2])
        }

        var text: String { "ln=\(logN),r=\(r),p=\(p)" }

        func hash(_ password: [UInt8], salt: [UInt8], count: Int) -> [UInt8]? {
            var hash = [UInt8](repeating: 0, count: count)
            let n = UInt64(1) << UInt64(logN)
            let memory = 128 * UInt64(r) * (n + UInt64(p) + 2) + 1 << 20
            let made = password.withUnsafeBytes { bytes in
                EVP_PBE_scrypt(
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                    bytes.count,
                    salt,
                    salt.count,
                    n,
                    UInt64(r),
                    UInt64(p),
                    memory,
                    &hash,
                    count
                )
            }
            return made == 1 ? hash : nil
        }
    }
}
