/// What sendmail is called with.
///
/// Programs call it in the ways of forty years: options joined in one word, values joined to their
/// option or not.
struct SendmailArguments {
    private(set) var endsAtDot = true
    private(set) var sender: String?
    private(set) var senderName: String?
    private(set) var recipients: [String] = []
    private(set) var asksForHelp = false
    private var server: String?
    private var keyFile: String?
    private var spool: String?
    private var authorityFile: String?

    /// Letters that take the rest of their word, or else the next word.
    private static let withValue: Set<Character> = [
        "B", "C", "D", "F", "f", "h", "L", "M", "N", "O", "o", "p", "R", "r", "V", "X",
    ]
    /// Letters that take the rest of their word only.
    private static let withRest: Set<Character> = ["A", "b", "d", "e", "q"]

    /// Where the mail goes.
    var settings: HostSettings {
        HostSettings(server: server, keyFile: keyFile, spool: spool, authorityFile: authorityFile)
    }

    /// Reads the words after the program's name.
    init(_ words: [String]) throws(CommandFailure) {
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--" {
                recipients += words
                return
            }
            if word.hasPrefix("--") {
                try takeLong(word.dropFirst(2), &words)
            } else if word.hasPrefix("-"), word.count > 1 {
                try takeLetters(word.dropFirst(), &words)
            } else {
                recipients.append(word)
            }
        }
    }

    private mutating func takeLong(_ word: Substring, _ words: inout ArraySlice<String>) throws(CommandFailure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if word == "help" {
            asksForHelp = true
            return
        }
        guard ["server", "key-file", "spool", "ca-file"].contains(parts[0]) else {
            throw CommandFailure("There is no option --\(Terminal.harmless(String(word))) of sendmail.", status: 2)
        }
        guard let value = parts.count > 1 ? String(parts[1]) : words.popFirst(), !value.isEmpty else {
            throw CommandFailure("--\(parts[0]) needs a value.", status: 2)
        }
        switch parts[0] {
        case "server": server = value
        case "key-file": keyFile = value
        case "spool": spool = value
        default: authorityFile = value
        }
    }

    private mutating func takeLetters(_ word: Substring, _ words: inout ArraySlice<String>) throws(CommandFailure) {
        var rest = word
        while let letter = rest.popFirst() {
            if Self.withRest.contains(letter) {
                guard letter != "b" || rest == "m" || rest.isEmpty else {
                    throw CommandFailure("sendmail -b\(rest) is not there: a mail is read and sent on.", status: 2)
                }
                return
            }
            guard Self.withValue.contains(letter) else {
                if letter == "i" { endsAtDot = false }
                continue
            }
            guard let value = rest.isEmpty ? words.popFirst() : String(rest) else {
                throw CommandFailure("sendmail -\(letter) needs a value.", status: 2)
            }
            switch letter {
            case "f", "r": sender = value
            case "F": senderName = value
            case "o": if value == "i" || value.lowercased() == "ignoredots" { endsAtDot = false }
            default: break
            }
            return
        }
    }
}
