extension Int64 {
    /// The number with a word, which gets an s unless there is one of it.
    func counting(_ word: String) -> String { "\(self) \(word)" + (self == 1 ? "" : "s") }
}
