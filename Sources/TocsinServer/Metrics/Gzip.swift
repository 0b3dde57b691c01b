import CZlib

/// Packs answers for those who take them so (RFC 1952).
enum Gzip {
    /// How much time packing takes: what is packed once and sent often is worth more of it.
    enum Effort: Int32 {
        /// A page of metrics is a twentieth then already, and costs a third of the usual time.
        case often = 1
        case once = 9
    }

    /// nil where there is no memory for it.
    static func packed(_ bytes: [UInt8], _ effort: Effort) -> [UInt8]? {
        let room = tocsin_gzip_bound(bytes.count)
        let packed = [UInt8](unsafeUninitializedCapacity: room) { target, count in
            count = tocsin_gzip(bytes, bytes.count, effort.rawValue, target.baseAddress, room)
        }
        return packed.isEmpty ? nil : packed
    }

    /// Why nothing was unpacked.
    enum Fault: Error {
        case isBroken
        case isTooLong
    }

    /// What was packed, of at most so many bytes.
    static func unpacked(_ bytes: [UInt8], maximumBytes: Int) throws(Fault) -> [UInt8] {
        // Nothing is written beyond what there is: memory that is not touched costs nothing.
        var written = 0
        let unpacked = [UInt8](unsafeUninitializedCapacity: maximumBytes + 1) { target, count in
            written = tocsin_gunzip(bytes, bytes.count, target.baseAddress, maximumBytes + 1)
            count = (0...maximumBytes).contains(written) ? written : 0
        }
        // What is broken comes back as the largest size there is, which is below 0 here.
        guard written >= 0 else { throw .isBroken }
        guard written <= maximumBytes else { throw .isTooLong }
        return unpacked
    }
}
