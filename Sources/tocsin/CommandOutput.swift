import Glibc
import JSON
import TocsinServer

/// A command could not do what it was asked; the text says why and what to do.
///
/// Exit code 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    /// 1: it failed; 2: it was asked wrongly.
    let status: Int32

    init(_ description: String, status: Int32 = 1) {
        self.description = description
        self.status = status
    }
}

/// Lines for people, beside what programs read on standard output.
enum StandardError {
    static func write(_ text: String) {
        // There is nobody left to tell that this failed.
        try? SystemFile.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

/// One JSON object on one line, for programs.
enum JSONLine {
    static func text(_ members: [(String, JSONValue)]) -> String {
        JSONValue.object(JSONObject(members)).serializedString()
    }
}
