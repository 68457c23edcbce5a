// The compiled part of Asio and Beast, once, so that the other files only pay for the declarations.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
