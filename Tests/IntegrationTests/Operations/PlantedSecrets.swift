import Foundation

/// Secrets that are handed to a server, each with what it is.
struct PlantedSecrets {
    private(set) var all: [(what: String, secret: String)] = []

    /// Remembers a secret of 20 characters or more, and gives it back.
    mutating func plant(_ what: String, _ secret: String) -> String {
        all.append((what, secret))
        return secret
    }

    /// A secret of our own making, unlike all others.
    mutating func plant(_ what: String) -> String {
        plant(what, "hush\(all.count)-" + UUID().uuidString.lowercased().filter { $0 != "-" })
    }

    /// A secret of these many hexadecimal digits.
    mutating func plantHexadecimal(_ what: String, _ prefix: String, digits: Int = 64) -> String {
        let random = (0..<digits).map { _ in String(Int.random(in: 0...15), radix: 16) }.joined()
        return plant(what, String((prefix + random).prefix(digits)))
    }

    /// The secret part of a key's file.
    mutating func plantKey(_ what: String, file: String?) throws {
        guard let file else { throw HarnessFailure("There is no file of \(what).") }
        let text = try String(contentsOfFile: file, encoding: .utf8).replacing("\\n", with: "\n")
        guard
            let line = text.split(whereSeparator: \.isWhitespace).filter({ !$0.contains("-----") })
                .max(by: { $0.count < $1.count }), line.count >= 40
        else { throw HarnessFailure("\(file) has no key.") }
        _ = plant(what, String(line.suffix(40).prefix(38)))
    }

    /// The secrets that stand in a text.
    func found(in text: String) -> [String] { all.filter { text.contains($0.secret) }.map(\.what) }
}
