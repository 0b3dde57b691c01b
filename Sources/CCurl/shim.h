#pragma once

// The checks of these macros are written for C callers; the functions below have types of their own.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// curl_easy_setopt and its kin take any arguments, which Swift cannot pass: one function for each kind of argument.

static inline CURLcode tocsin_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode tocsin_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode tocsin_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode tocsin_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

// The body is copied by libcurl.
static inline CURLcode tocsin_curl_set_body(CURL *handle, const void *bytes, long long count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

typedef size_t (*tocsin_curl_receiver)(char *bytes, size_t size, size_t count, void *target);

static inline CURLcode tocsin_curl_set_receiver(CURL *handle, CURLoption option, tocsin_curl_receiver receiver) {
    return curl_easy_setopt(handle, option, receiver);
}

// Asked for each socket, with the address that it would be connected to.
static inline CURLcode tocsin_curl_set_opener(CURL *handle, curl_opensocket_callback opener, void *target) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, target);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, opener);
}

// Only http and https may be spoken; libcurl knows two dozen protocols, files among them.
static inline CURLcode tocsin_curl_allow_http_only(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static inline long tocsin_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// The next finished transfer of a multi handle, with its outcome; NULL when there is none.
static inline CURL *tocsin_curl_next_finished(CURLM *multi, CURLcode *outcome) {
    int waiting = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &waiting)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *outcome = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}
