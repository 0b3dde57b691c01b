import CMalloc

/// What becomes of memory that is not needed any more.
enum FreedMemory {
    /// Blocks of at least so many bytes are the system's again as soon as they are free.
    private static let largeBlock: Int32 = 128 * 1024

    /// Keeps glibc from raising that size by itself, as it does when large blocks come and go.
    ///
    /// Otherwise one request for large messages would leave the process larger for good.
    static func giveBackLargeBlocks() { _ = mallopt(M_MMAP_THRESHOLD, largeBlock) }
}
