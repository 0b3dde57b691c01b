import FoundationEssentials
import TocsinServer

/// Variables of this run, and where they are missing those of a file for the whole host.
///
/// cron and others call sendmail with an environment that nobody has set.
struct HostVariables {
    /// The file of a host, unless `TOCSIN_HOST_FILE` names another.
    static let path = "/etc/default/tocsin-host"

    private let environment = ProcessInfo.processInfo.environment
    private let ofHost: [String: String]

    init() {
        // A host without the file has its defaults.
        let text = (try? SystemFile.text(of: environment["TOCSIN_HOST_FILE"] ?? Self.path)) ?? ""
        ofHost = Self.read(text)
    }

    subscript(name: String) -> String? {
        let value = environment[name] ?? ofHost[name]
        return value?.isEmpty == true ? nil : value
    }

    /// Lines as systemd reads them: `NAME=value`, with or without quotes.
    private static func read(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            var value = parts[1]
            while value.last?.isWhitespace == true { value.removeLast() }
            if let quote = value.first, value.count > 1, "\"'".contains(quote), value.last == quote {
                value = value.dropFirst().dropLast()
            }
            values[String(parts[0])] = String(value)
        }
        return values
    }
}
