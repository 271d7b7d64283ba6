#include <cerrno>
#include <napi.h>
#include <sys/file.h>

/**
 * `tryLock(descriptor)`: flock(2), exclusive, without waiting. The lock lasts until the descriptor is closed or the process
 * is gone. Gives 0, or the system's error number.
 */
static Napi::Value TryLock(const Napi::CallbackInfo &info) {
  int descriptor = info[0].As<Napi::Number>().Int32Value();
  return Napi::Number::New(info.Env(), flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno);
}

void addTryLock(Napi::Env env, Napi::Object exports) {
  exports.Set("tryLock", Napi::Function::New(env, TryLock));
}
