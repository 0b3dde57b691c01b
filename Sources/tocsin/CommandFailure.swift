import Foundation

/// A command could not do what it was asked; the text says why and what to do.
///
/// Exit code 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Lines for people, beside what programs read on standard output.
enum StandardError {
    static func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
