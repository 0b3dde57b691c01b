import ArgumentParser
import FoundationEssentials
import JSON
import TocsinClient
import TocsinServer

// What shells offer beside the commands and options of their scripts: the script runs the program,
// which prints a word a line. `compgen -W` of bash expands what it is given, so only plain words
// may be printed.

extension CompletionKind {
    /// The names of topics that whoever types may see.
    static var topicNames: CompletionKind {
        .custom { words, _, _ in await TopicNames.offered(on: words) }
    }

    /// The flags of all settings.
    static var settingFlags: CompletionKind {
        .custom { words, index, prefix in SettingFlags.offered(on: words, at: index, beginningWith: prefix) }
    }
}

/// The topics of the server that the environment names.
private enum TopicNames {
    /// The first hundred topics with plain names; none where the server does not answer at once.
    ///
    /// A line with an address or a token of its own gets none: half an address must not be sent
    /// a token.
    static func offered(on words: [String]) async -> [String] {
        let own = ["--server", "--token", "--ca-file"]
        let environment = ProcessInfo.processInfo.environment
        guard !words.contains(where: { word in own.contains { word.hasPrefix($0) } }),
            let token = environment["TOCSIN_TOKEN"], !token.isEmpty
        else { return [] }
        var settings = ClientSettings()
        settings.allowsPlainText = true
        settings.userAgent = ClientVersion.commandLine
        // Somebody waits with a finger on the key.
        settings.connectTimeout = .seconds(1)
        settings.requestTimeout = .seconds(2)
        settings.maximumAttempts = 1
        let address = environment["TOCSIN_URL"] ?? "http://127.0.0.1:8080"
        guard let client = try? TocsinClient(url: address, token: token, settings: settings) else { return [] }
        defer { client.close() }
        let answer = try? await client.query(TopicCommand.listDocument, variables: ["next": .null])
        let topics = answer?["listTopics"]?["items"]?.arrayValue ?? []
        return topics.filter { $0["_deleted"]?.boolValue != true }.compactMap { $0["name"]?.stringValue }
            .filter(PlainWord.isPlain)
    }
}

/// The settings as flags, for commands that take any of them.
private enum SettingFlags {
    static func offered(on words: [String], at index: Int, beginningWith prefix: String) -> [String] {
        let before = words.indices.contains(index - 1) ? words[index - 1] : ""
        let takesValue = SettingTable.all.contains { setting in
            !setting.isFlag && (setting.flag == before || setting.fileKey.map { "--" + $0 } == before)
        }
        guard !takesValue else { return [] }
        let negative = prefix.hasPrefix("--no-") ? SettingTable.all.filter(\.isFlag).map { "--no-" + $0.key } : []
        let flags = SettingTable.all.flatMap { [$0.flag] + ($0.fileKey.map { ["--" + $0] } ?? []) }
        return (flags + negative).filter { $0.hasPrefix(prefix) && !words.contains($0) }
    }
}

/// A word that means itself in every shell.
enum PlainWord {
    /// Whether the text is of letters, digits, `.`, `_` and `-`, and begins with no `.` or `-`.
    static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first != "-", first != "." else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber: true
            default: "._-".unicodeScalars.contains(scalar)
            }
        }
    }
}
