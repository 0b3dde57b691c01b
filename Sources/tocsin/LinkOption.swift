import ArgumentParser

/// Links that options name: checked here, where their names are known.
enum LinkOption {
    /// Throws unless the text begins as a whole address does.
    static func check(_ text: String?, _ option: String) throws {
        guard let text else { return }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), !text.contains(where: \.isWhitespace) else {
            throw ValidationError(
                "\(option) is \"\(Terminal.harmless(text))\". Write a whole address, such as https://example.com/page."
            )
        }
    }
}
