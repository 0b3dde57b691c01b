import CCurl
import Glibc
import Synchronization
import TocsinCore
import TocsinHTTP2

/// One call: its request, what has arrived of its answer, and who waits for it.
///
/// What has arrived is touched by the loop's thread alone, from when the transfer is submitted
/// until it is done; hence `@unchecked Sendable`.
final class CurlTransfer: @unchecked Sendable {
    private struct Waiting {
        var waiter: (@Sendable (OutgoingAnswer) -> Void)?
    }

    private static let maximumHeadBytes = 64 * 1024

    let request: OutgoingRequest
    private let waiting = Mutex(Waiting())
    /// Set when the caller's task was cancelled, which may be before the transfer was submitted.
    let isCancelled = Atomic(false)
    private var handle: UnsafeMutableRawPointer?
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var headers: [(name: String, value: String)] = []
    private var headBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// An address was found, and the request may not go there.
    private var isForbidden = false
    /// libcurl writes here what went wrong, in more words than the code has.
    private let reason = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    init(_ request: OutgoingRequest) {
        self.request = request
        reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        reason.deallocate()
    }

    func whenDone(_ answered: @escaping @Sendable (OutgoingAnswer) -> Void) {
        waiting.withLock { $0.waiter = answered }
    }

    /// Answers the waiter, once; later answers go nowhere.
    func finish(_ answer: OutgoingAnswer) {
        let answered = waiting.withLock { waiting in
            defer { waiting.waiter = nil }
            return waiting.waiter
        }
        answered?(answer)
    }

    /// A handle with all options set, owned by the transfer until `close`; nil
    /// when libcurl refuses one.
    func open(caFile: String?) -> UnsafeMutableRawPointer? {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        for header in request.headers + [("expect", "")] {
            let line = header.value.isEmpty ? header.name + ":" : "\(header.name): \(header.value)"
            guard !line.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
                let list = curl_slist_append(headerList, line)
            else { return nil }
            headerList = list
        }
        var codes = [
            tocsin_curl_set_string(handle, CURLOPT_URL, request.url),
            tocsin_curl_allow_http_only(handle),
            tocsin_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            tocsin_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            tocsin_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            tocsin_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1),
            tocsin_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2),
            tocsin_curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            tocsin_curl_set_long(handle, CURLOPT_TIMEOUT_MS, max(1, Int(request.timeoutSeconds * 1000))),
            tocsin_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(request.timeoutSeconds * 1000))),
            tocsin_curl_set_list(handle, CURLOPT_HTTPHEADER, headerList),
            tocsin_curl_set_string(handle, CURLOPT_USERAGENT, "tocsin"),
            tocsin_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, reason),
        ]
        if let caFile { codes.append(tocsin_curl_set_string(handle, CURLOPT_CAINFO, caFile)) }
        // Methods that mean a body say that it is empty (RFC 9110 §8.6); some servers want that.
        if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) {
            codes.append(
                request.body.withUnsafeBytes { bytes in
                    tocsin_curl_set_body(handle, bytes.baseAddress ?? UnsafeRawPointer(handle), Int64(bytes.count))
                }
            )
        }
        codes.append(tocsin_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method))
        codes += receivers(handle)
        if request.addresses != .any { codes += guards(handle) }
        return codes.allSatisfy { $0 == CURLE_OK } ? handle : nil
    }

    /// Frees the handle, which must have left the multi handle.
    func close() {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
        handle = nil
        headerList = nil
    }

    /// The answer, given how the transfer ended.
    func answer(_ outcome: CURLcode) -> OutgoingAnswer {
        guard outcome == CURLE_OK, let handle else {
            if isTooLarge { return .failed(reason: "the answer is larger than \(request.maximumBodyBytes) bytes") }
            if isForbidden { return .failed(reason: "its address is not of the public internet") }
            // The library's words may name the address.
            let others = request.addresses == .any ? libraryWords(outcome) : "the call failed (\(outcome.rawValue))"
            return .failed(reason: Self.words(outcome) ?? others)
        }
        return .response(status: tocsin_curl_status(handle), headers: headers, body: body)
    }

    /// What people are told of the failures that they meet; nil for the rest.
    private static func words(_ outcome: CURLcode) -> String? {
        switch outcome {
        case CURLE_URL_MALFORMAT: "its address cannot be read"
        case CURLE_COULDNT_RESOLVE_HOST: "the host's name is not known"
        case CURLE_COULDNT_CONNECT: "nothing listens there, or there is no way to it"
        case CURLE_OPERATION_TIMEDOUT: "it did not answer in time"
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR: "it ended the connection without an answer"
        case CURLE_PEER_FAILED_VERIFICATION: "its certificate is not trusted, or is for another host"
        case CURLE_SSL_CONNECT_ERROR: "TLS could not be agreed on; does it speak TLS at this port?"
        case CURLE_SSL_CACERT_BADFILE: "the file of authorities (TOCSIN_PUSH_CA_FILE) cannot be used"
        default: nil
        }
    }

    private func libraryWords(_ outcome: CURLcode) -> String {
        let detail = String(cString: reason)
        return detail.isEmpty ? String(cString: curl_easy_strerror(outcome)) : detail
    }

    /// Sockets to allowed addresses alone: no proxy, which would connect for us, and no connection
    /// that another call has left open.
    private func guards(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        return [
            tocsin_curl_set_string(handle, CURLOPT_PROXY, ""),
            tocsin_curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1),
            tocsin_curl_set_long(handle, CURLOPT_FORBID_REUSE, 1),
            tocsin_curl_set_opener(
                handle,
                { target, _, address in
                    guard let target, let address else { return -1 }
                    let transfer = Unmanaged<CurlTransfer>.fromOpaque(target).takeUnretainedValue()
                    return transfer.open(address)
                },
                pointer
            ),
        ]
    }

    /// A socket for an address, where the request may go there; else -1, `CURL_SOCKET_BAD`.
    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let place = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return -1 }
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address) + place,
            count: Int(address.pointee.addrlen)
        )
        guard isAllowed(address.pointee.family, bytes) else {
            isForbidden = true
            return -1
        }
        let (family, type) = (address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue))
        return socket(family, type, address.pointee.protocol)
    }

    private func isAllowed(_ family: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let takesLoopback = request.addresses == .publicOrLoopback
        // After family and port, and with version 6 the flow's label (ip(7), ipv6(7)).
        switch family {
        case AF_INET:
            let host = Array(bytes.dropFirst(4).prefix(4))
            return PublicAddress.isPublic(v4: host) || (takesLoopback && host.first == 127)
        case AF_INET6:
            let host = Array(bytes.dropFirst(8).prefix(16))
            return PublicAddress.isPublic(v6: host)
                || (takesLoopback && host == [UInt8](repeating: 0, count: 15) + [1])
        default: return false
        }
    }

    private func receivers(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        // Unretained: the loop keeps the transfer for as long as its handle lives.
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        return [
            tocsin_curl_set_pointer(handle, CURLOPT_WRITEDATA, pointer),
            tocsin_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, target in
                CurlTransfer.receive(bytes, size * count, target) { $0.receiveBody($1) }
            },
            tocsin_curl_set_pointer(handle, CURLOPT_HEADERDATA, pointer),
            tocsin_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, target in
                CurlTransfer.receive(bytes, size * count, target) { $0.receiveHeader($1) }
            },
        ]
    }

    /// The count that libcurl expects, or 0 to end the transfer.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ count: Int,
        _ target: UnsafeMutableRawPointer?,
        _ take: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let bytes, let target else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(target).takeUnretainedValue()
        return take(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= request.maximumBodyBytes else {
            isTooLarge = true
            return false
        }
        body += bytes
        return true
    }

    /// Lines of the head; a status line begins a new head, as after an interim answer.
    private func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.maximumHeadBytes else { return false }
        if bytes.starts(with: "HTTP/".utf8) {
            headers = []
            return true
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let value = bytes[(colon + 1)...].drop { $0 <= 0x20 }
        let end = value.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? value.startIndex
        headers.append((name, String(decoding: value[..<end], as: UTF8.self)))
        return true
    }
}
